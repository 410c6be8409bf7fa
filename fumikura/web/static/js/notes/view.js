// @ts-check
import { formatTime, t } from "../i18n.js";
import { Icon } from "../ui/icons.js";
import { html } from "../vendor.js";
import { sourcesUsed } from "../chat/model.js";
import { MarkedText, UsedSource } from "../chat/quotes.js";
import { makeSource, removeNote, titleOf, writeNote } from "./actions.js";

/** A note to read: its marks and its quotes open the source. */
export function NoteView({ note }) {
  return html`<article class="note-view">
    <h3>${titleOf(note)}</h3>
    <p class="hint">${formatTime(note.updated_at)}</p>
    ${note.question && html`<p class="note-question">${t("notes.question", { question: note.question })}</p>`}
    ${note.text.trim()
      ? html`<${MarkedText} text=${note.text} citations=${note.citations} class="note-text" />`
      : html`<p class="hint">${t("notes.blank")}</p>`}
    <${Quotes} citations=${note.citations} />
    <div class="note-actions">
      <button type="button" class="button small" onClick=${() => writeNote(note)}><${Icon} name="edit" size="16" /> ${t("notes.edit")}</button>
      <button type="button" class="button small" onClick=${() => makeSource(note)}>
        <${Icon} name="book" size="16" /> ${t(note.source_id ? "notes.update_source" : "notes.make_source")}
      </button>
      <button type="button" class="button small danger-text" onClick=${() => removeNote(note)}><${Icon} name="trash" size="16" /> ${t("notes.delete")}</button>
    </div>
  </article>`;
}

function Quotes({ citations }) {
  const used = sourcesUsed(citations);
  if (!used.length) return null;
  return html`<section class="note-quotes">
    <h4>${t("notes.quotes")}</h4>
    <ol>
      ${used.map((one) => html`<li key=${one.n}>
        <${UsedSource} used=${one} />
        ${one.citations.map((citation) => html`<blockquote>${citation.quote}</blockquote>`)}
      </li>`)}
    </ol>
  </section>`;
}
