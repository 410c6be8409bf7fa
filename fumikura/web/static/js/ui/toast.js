// @ts-check
import { ApiError } from "../api.js";
import { t } from "../i18n.js";
import { createStore, useStore } from "../state.js";
import { html, useEffect, useState } from "../vendor.js";
import { IconButton } from "./icons.js";

const toasts = createStore({ shown: /** @type {any[]} */ ([]) });
let nextId = 1;

/**
 * Say something at the lower edge. kind: "plain" | "error"; `action` is the text of a button.
 * The time stands still while the pointer or the focus is on it. @returns {() => void} takes it away
 */
export function toast(message, { kind = "plain", action = "", onAction = () => {}, ms = 6000 } = {}) {
  const id = nextId++;
  toasts.set(({ shown }) => ({ shown: [...shown.slice(-3), { id, message, kind, action, onAction, ms }] }));
  return () => dismiss(id);
}

/** Show an error of the server (message and hint), unless it only says that the server is away: the banner does. */
export function toastError(error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "offline") return;
  toast([error.message, error.hint].filter(Boolean).join(" "), { kind: "error", ms: 12_000 });
}

const dismiss = (id) => toasts.set(({ shown }) => ({ shown: shown.filter((one) => one.id !== id) }));

/** Where the toasts appear; rendered once by app.js. */
export function Toaster() {
  const shown = useStore(toasts, (value) => value.shown);
  return html`<div class="toaster" role="region" aria-label=${t("toast.region")}>
    <div role="status" aria-live="polite">
      ${shown.map((one) => html`<${Toast} key=${one.id} ...${one} />`)}
    </div>
  </div>`;
}

function Toast({ id, message, kind, action, onAction, ms }) {
  const [held, hold] = useState(false);
  useEffect(() => {
    if (held) return undefined;
    const timer = setTimeout(() => dismiss(id), ms);
    return () => clearTimeout(timer);
  }, [held]);
  const act = () => {
    dismiss(id);
    onAction();
  };
  const holding = { onMouseEnter: () => hold(true), onMouseLeave: () => hold(false) };
  const focusing = { onFocusIn: () => hold(true), onFocusOut: () => hold(false) };
  return html`<div class=${`toast toast-${kind}`} ...${holding} ...${focusing}>
    <span class="toast-text">${message}</span>
    ${action && html`<button type="button" class="toast-action" onClick=${act}>${action}</button>`}
    <${IconButton} icon="close" label=${t("close")} onClick=${() => dismiss(id)} />
  </div>`;
}
