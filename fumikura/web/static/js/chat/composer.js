// @ts-check
import { t } from "../i18n.js";
import { isSubmit } from "../keys.js";
import { app, remember, remembered, useStore } from "../state.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { html, useEffect, useRef, useState } from "../vendor.js";
import { chat, runningTurn } from "./store.js";

/** "auto" chooses one of the others. */
export const MODES = ["auto", "rag", "resident", "hybrid"];
const GROWS_BY_ITSELF = CSS.supports("field-sizing", "content");

/** The field of the open conversation. It is there before the panels, which bring `ask`, `stop` and the words of the modes. */
export function QuestionField({ panels }) {
  const isOpen = useStore(chat, ({ status }) => status !== "loading");
  const running = useStore(chat, runningTurn);
  const count = useStore(app, ({ notebook }) => notebook?.source_count);
  const notebookId = useStore(app, ({ notebook }) => notebook?.id);
  const placeholder = count === undefined ? "" : t(count ? "chat.placeholder" : "chat.placeholder_no_sources");
  const onStop = () => panels.stop(running);
  return html`<${Composer}
    notebookId=${notebookId}
    ready=${isOpen && panels !== null}
    busy=${Boolean(running)}
    placeholder=${placeholder}
    onAsk=${panels?.ask}
    onStop=${onStop}
    hasModes=${count > 0 && panels !== null}
  />`;
}

/**
 * It keeps its text to itself, so that a key stroke renders nothing but the send button, and that once; the tab keeps
 * a text for each notebook until it is sent, also while the page begins anew.
 * `onAsk(question, mode)`, `onStop()`; `busy`: an answer is being written; not `ready`: what is sent waits here until it is.
 */
function Composer({ notebookId, ready, busy, placeholder, onAsk, onStop, hasModes }) {
  const field = useRef(/** @type {any} */ (null));
  const isWaiting = useRef(false);
  const shown = useRef(null); // the notebook whose text the field has
  const [blank, setBlank] = useState(true);
  const [mode, setMode] = useState("auto");
  const changed = () => {
    setBlank(!field.current.value.trim());
    if (notebookId) remember(`question.${notebookId}`, field.current.value, "sessionStorage");
    if (!GROWS_BY_ITSELF) fitHeight(field.current);
  };
  const send = () => {
    const question = field.current.value.trim();
    isWaiting.current = !ready;
    if (busy || !ready || !question) return;
    field.current.value = "";
    changed();
    field.current.focus();
    onAsk(question, mode);
    setMode("auto");
  };
  useEffect(() => {
    if (!notebookId) return;
    const typed = shown.current ? "" : field.current.value; // before the notebook was there
    const kept = ["unsent", "question"].map((key) => remembered(`${key}.${notebookId}`, "sessionStorage"));
    shown.current = notebookId;
    remember(`unsent.${notebookId}`, "", "sessionStorage"); // see conversation.js
    field.current.value = [...new Set([...kept, typed])].filter(Boolean).join("\n");
    changed();
  }, [notebookId]);
  useEffect(() => {
    if (isWaiting.current) send();
  }, [ready]);
  const onKeyDown = (event) => {
    if (!isSubmit(event)) return;
    event.preventDefault();
    send();
  };
  const stop = () => {
    field.current.focus(); // the button goes away
    onStop();
  };
  const submitted = (event) => (event.preventDefault(), send());
  return html`<form class="composer" onSubmit=${submitted}>
    <div class="composer-field">
      <textarea
        ref=${field}
        rows="1"
        aria-label=${t("chat.composer")}
        aria-describedby="composer-keys"
        placeholder=${placeholder}
        onInput=${changed}
        onKeyDown=${onKeyDown}
      ></textarea>
      ${hasModes && html`<${ModeMenu} mode=${mode} choose=${(one) => (setMode(one), field.current.focus())} />`}
      ${busy
        ? html`<button key="stop" type="button" class="send stop" aria-label=${t("chat.stop")} title=${t("chat.stop")} onClick=${stop}><${Icon} name="stop" /></button>`
        : html`<button key="send" type="submit" class="send" aria-label=${t("chat.send")} title=${t("chat.send")} disabled=${blank}><${Icon} name="send" /></button>`}
    </div>
    <p class="hint" id="composer-keys">${t("chat.keys")}</p>
  </form>`;
}

function fitHeight(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

/** How the next question alone is answered; "auto": as the notebook is. */
function ModeMenu({ mode, choose }) {
  const name = (one) => t(one === "auto" ? "mode.same" : `mode.${one}`);
  const entries = MODES.map((one) => ({ label: name(one), checked: one === mode, onSelect: () => choose(one) }));
  const isOwn = mode !== "auto";
  return html`<${Menu} class=${isOwn ? "button small mode-own" : "icon-button"} label=${t("mode.question", { mode: name(mode) })} entries=${entries}>
    ${isOwn ? name(mode) : html`<${Icon} name="sliders" size=${16} />`}
  <//>`;
}
