// @ts-check
import { t } from "../i18n.js";
import { isSubmit } from "../keys.js";
import { Icon } from "../ui/icons.js";
import { html, useRef, useState } from "../vendor.js";

const GROWS_BY_ITSELF = CSS.supports("field-sizing", "content");

/**
 * The field for a question. It keeps its text to itself, so that a key stroke renders nothing but the send button,
 * and that once. `onAsk(question)`, `onStop()`; `busy`: an answer is being written.
 */
export function Composer({ busy, placeholder, onAsk, onStop }) {
  const field = useRef(/** @type {any} */ (null));
  const [blank, setBlank] = useState(true);
  const changed = () => {
    setBlank(!field.current.value.trim());
    if (!GROWS_BY_ITSELF) fitHeight(field.current);
  };
  const send = () => {
    const question = field.current.value.trim();
    if (busy || !question) return;
    field.current.value = "";
    changed();
    field.current.focus();
    onAsk(question);
  };
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
