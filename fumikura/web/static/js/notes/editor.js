// @ts-check
import "../strings/later.js";
import { onReconnect } from "../api.js";
import { t } from "../i18n.js";
import { isSubmit } from "../keys.js";
import { useStore } from "../state.js";
import { html, useEffect, useRef } from "../vendor.js";
import { finishWriting, readNote } from "./actions.js";
import { startWriting } from "./writing.js";

/** Begin to write, as writing.js does; `Field` shows it. */
export const begin = (note, onSaved) => ({ ...startWriting(note, onSaved), Field: NoteEditor });

const SIGNS = { saved: "notes.saved", unsaved: "notes.unsaved", saving: "notes.saving", failed: "notes.save_failed", conflict: "notes.conflict" };

/** Title and text of a note, saved while they are written. */
function NoteEditor({ writing }) {
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
    <${Conflict} writing=${writing} />
    <footer class="note-foot">
      <${Sign} writing=${writing} />
      <button type="button" class="button primary small" onClick=${finishWriting}>${t("notes.done")}</button>
    </footer>
  </div>`;
}

/** Someone saved another text meanwhile: neither is lost before one of them is chosen. */
function Conflict({ writing }) {
  const state = useStore(writing.store, (value) => value.state);
  if (state !== "conflict") return null;
  const openOther = async () => {
    const other = await writing.keepBoth();
    if (other) readNote(other);
  };
  return html`<div class="notice note-conflict" role="alert">
    <p>${t("notes.conflict_text")}</p>
    <div class="note-actions">
      <button type="button" class="button small" onClick=${openOther}>${t("notes.keep_both")}</button>
      <button type="button" class="button small danger-text" onClick=${writing.overwrite}>${t("notes.overwrite")}</button>
    </div>
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
