// @ts-check
/** What is asked before a conversation is changed; fetched when it is first chosen. */
import "../strings/later.js";
import { t } from "../i18n.js";
import { askDialog, confirmDialog } from "../ui/dialog.js";
import { removeConversation, renameConversation } from "./conversation.js";

/** Ask for another name. */
export function rename({ conversation_id, title }) {
  const save = (text) => renameConversation(conversation_id, text);
  askDialog({ title: t("chat.rename_title"), label: t("chat.rename_field"), value: title, confirm: t("chat.rename_yes"), save });
}

/** Ask, then delete. */
export async function remove({ conversation_id, title, turn_count }) {
  const sure = await confirmDialog({
    title: t("chat.delete_ask", { title: title || t("chat.untitled") }),
    text: t("chat.delete_text", { n: turn_count }),
    confirm: t("chat.delete"),
    danger: true,
  });
  if (sure) await removeConversation(conversation_id);
}
