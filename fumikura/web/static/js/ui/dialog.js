// @ts-check
import { t } from "../i18n.js";
import { isSubmit } from "../keys.js";
import { html, render, useState } from "../vendor.js";
import { IconButton } from "./icons.js";

/**
 * Open a modal <dialog>. `body(close)` gives its content; the promise has what was passed to `close`
 * (undefined after Escape). The focus goes back to where it was. `size`: "small" | "wide".
 */
export function openDialog({ title, body, size = "small" }) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const dialog = document.createElement("dialog");
  dialog.className = `dialog dialog-${size}`;
  dialog.setAttribute("aria-label", title);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let result;
    const close = (value) => {
      result = value;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      render(null, dialog);
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(result);
    });
    closeOnBackdrop(dialog, close);
    render(html`<${Frame} title=${title} close=${close}>${body(close)}<//>`, dialog);
    dialog.showModal();
    focusFirst(dialog);
  });
}

// Only a press that begins on the backdrop closes: not the end of a selection that was drawn out of a text field.
function closeOnBackdrop(dialog, close) {
  dialog.addEventListener("pointerdown", (event) => {
    if (event.target === dialog) dialog.addEventListener("click", (click) => click.target === dialog && close(), { once: true });
  });
}

function focusFirst(dialog) {
  const wanted = dialog.querySelector("[data-autofocus]") ?? dialog.querySelector("input, textarea, .dialog-buttons button");
  if (wanted instanceof HTMLElement) wanted.focus();
  if (wanted instanceof HTMLInputElement) wanted.select();
}

function Frame({ title, close, children }) {
  return html`<div class="dialog-frame">
    <header class="dialog-head">
      <h2>${title}</h2>
      <${IconButton} icon="close" label=${t("close")} onClick=${() => close()} />
    </header>
    ${children}
  </div>`;
}

/** Ask before something that cannot be undone. @returns {Promise<boolean>} */
export async function confirmDialog({ title, text, confirm, danger = false }) {
  const kind = danger ? "button danger" : "button primary";
  const body = (close) => html`<div>
    <p class="dialog-text">${text}</p>
    <div class="dialog-buttons">
      <button type="button" class="button" data-autofocus onClick=${() => close(false)}>${t("cancel")}</button>
      <button type="button" class=${kind} onClick=${() => close(true)}>${confirm}</button>
    </div>
  </div>`;
  return (await openDialog({ title, body })) === true;
}

/**
 * Ask for one line of text. `save(text)` runs before it closes; its error stays in the dialog.
 * @returns {Promise<string | undefined>} the saved text, undefined when given up
 */
export function askDialog({ title, label, value = "", confirm, hint = "", type = "text", save = async (_text) => {} }) {
  const body = (close) => html`<${AskForm} ...${{ label, value, confirm, hint, type, save, close }} />`;
  return openDialog({ title, body });
}

function AskForm({ label, value, confirm, hint, type, save, close }) {
  const [text, setText] = useState(value);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    if (!text.trim() || busy) return;
    setBusy(true);
    try {
      await save(text.trim());
      close(text.trim());
    } catch (failure) {
      setError([failure.message, failure.hint].filter(Boolean).join(" "));
      setBusy(false);
    }
  };
  const onKeyDown = (event) => isSubmit(event) && (event.preventDefault(), submit());
  return html`<div class="form">
    <label class="field">
      <span>${label}</span>
      <input
        type=${type}
        value=${text}
        maxlength="2000"
        autocomplete="off"
        aria-invalid=${error ? "true" : undefined}
        onInput=${(event) => setText(event.target.value)}
        onKeyDown=${onKeyDown}
      />
    </label>
    ${hint && html`<p class="hint">${hint}</p>`} ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <div class="dialog-buttons">
      <button type="button" class="button" onClick=${() => close()}>${t("cancel")}</button>
      <button type="button" class="button primary" disabled=${!text.trim() || busy} onClick=${submit}>${confirm}</button>
    </div>
  </div>`;
}
