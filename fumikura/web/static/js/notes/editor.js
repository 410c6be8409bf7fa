// @ts-check
import { onReconnect } from "../api.js";
import { t } from "../i18n.js";
import { isSubmit } from "../keys.js";
import { useStore } from "../state.js";
import { html, useEffect, useRef } from "../vendor.js";
import { finishWriting } from "./actions.js";

const SIGNS = { saved: "notes.saved", unsaved: "notes.unsaved", saving: "notes.saving", failed: "notes.save_failed" };

/** Title and text of a note, saved while they are written. */
export function NoteEditor({ writing }) {
  const note = useStore(writing.store, (value) => value.note);
  const title = useRef(/** @type {any} */ (null));
  const text = useRef(/** @type {any} */ (null));
  useEffect(() => {
    (note.title || note.text ? text : title).current.focus();
    const forgetReconnect = onReconnect(writing.save);
    return () => {
      forgetReconnect();
      writing.save();
    };
  }, [writing]);
  const toText = (event) => isSubmit(event) && (event.preventDefault(), text.current.focus());
  return html`<div class="note-editor" onFocusOut=${writing.save}>
    <input
      ref=${title}
      class="note-title-field"
      aria-label=${t("notes.title_field")}
      placeholder=${t("notes.title_field")}
      maxlength="200"
      value=${note.title}
      onInput=${(event) => writing.change({ title: event.target.value })}
      onKeyDown=${toText}
    />
    <textarea
      ref=${text}
      aria-label=${t("notes.text_field")}
      placeholder=${t("notes.text_placeholder")}
      value=${note.text}
      onInput=${(event) => writing.change({ text: event.target.value })}
    ></textarea>
    <footer class="note-foot">
      <${Sign} writing=${writing} />
      <button type="button" class="button primary small" onClick=${finishWriting}>${t("notes.done")}</button>
    </footer>
  </div>`;
}

function Sign({ writing }) {
  const state = useStore(writing.store, (value) => value.state);
  const error = useStore(writing.store, (value) => value.error);
  const started = useStore(writing.store, (value) => Boolean(value.note.note_id) || value.state !== "saved");
  return html`<p class=${`save-sign save-${state}`} role="status">
    ${started && t(SIGNS[state])} ${error && html`<span>${error}</span>`}
  </p>`;
}
