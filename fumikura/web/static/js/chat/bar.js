// @ts-check
import { t } from "../i18n.js";
import { fetchedWithStyle } from "../later.js";
import { useStore } from "../state.js";
import { Icon, IconButton } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { html } from "../vendor.js";
import { openConversation, startConversation } from "./conversation.js";
import { chat } from "./store.js";

/** The open conversation's name, the others to choose from, and what can be done with it. */
export function ConversationBar() {
  const conversations = useStore(chat, (value) => value.conversations);
  const conversationId = useStore(chat, (value) => value.conversationId);
  const open = conversations.find((one) => one.conversation_id === conversationId);
  const title = open?.title || t("chat.untitled");
  return html`<header class="panel-head chat-bar">
    <h2 class="visually-hidden">${t("chat.title")}</h2>
    <${Menu} class="conversation-button" align="start" label=${t("chat.switch", { title })} entries=${choices(conversations, conversationId)}>
      <span>${title}</span><${Icon} name="chevron" size="16" />
    <//>
    <span class="chat-bar-space"></span>
    <${IconButton} icon="add" label=${t("chat.new")} onClick=${startConversation} />
    ${open && html`<${Menu} label=${t("chat.more")} entries=${doings(open)} />`}
  </header>`;
}

function choices(conversations, conversationId) {
  if (!conversations.length) return [{ label: t("chat.list_empty"), disabled: true, onSelect() {} }];
  return conversations.map((one) => ({
    label: one.title || t("chat.untitled"),
    note: one.turn_count,
    checked: one.conversation_id === conversationId,
    onSelect: () => openConversation(one.conversation_id),
  }));
}

function doings(conversation) {
  return [
    { label: t("chat.rename"), icon: "edit", onSelect: () => inDialog("rename", conversation) },
    { label: t("chat.delete"), icon: "trash", danger: true, onSelect: () => inDialog("remove", conversation) },
  ];
}

async function inDialog(name, conversation) {
  const dialogs = await fetchedWithStyle(() => import("./dialogs.js"));
  dialogs?.[name](conversation);
}
