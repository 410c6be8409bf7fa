// @ts-check
import { inNotebook } from "../api.js";
import { addStrings, formatDate, t } from "../i18n.js";
import { plainText } from "../marked.js";
import { useStore } from "../state.js";
import { notesStrings } from "../strings/notes.js";
import { Icon, IconButton } from "../ui/icons.js";
import { html, useEffect } from "../vendor.js";
import { closeNote, notes, openNotebook, readNote, searchNotes, showNotebook, titleOf, writeNote } from "./actions.js";
import { NoteView } from "./view.js";

addStrings(notesStrings);

/** The right panel: the list of notes, or one of them. Made anew with each notebook. */
export function NotesPanel() {
  const open = useStore(notes, (value) => value.open);
  const writing = useStore(notes, (value) => value.writing);
  useEffect(() => void showNotebook(), []);
  if (!open) return html`<${ListHead} /><${NoteList} />`;
  return html`<header class="panel-head note-head">
      <button type="button" class="note-back" onClick=${closeNote}><${Icon} name="left" /> ${t("notes.back")}</button>
      <h2 class="visually-hidden">${t("notes.title")}</h2>
    </header>
    <div class="note-scroll">
      ${writing ? html`<${writing.Field} writing=${writing} />` : html`<${NoteView} note=${open} />`}
    </div>`;
}

function ListHead() {
  const any = useStore(notes, ({ list }) => list.length > 0);
  return html`<header class="panel-head">
    <h2>${t("notes.title")}</h2>
    ${any &&
    html`<a class="icon-button" href=${inNotebook("/notes/export")} download title=${t("notes.export_hint")} aria-label=${t("notes.export")}>
      <${Icon} name="download" />
    </a>`}
    <${IconButton} icon="add" label=${t("notes.new")} onClick=${() => writeNote()} />
  </header>`;
}

function NoteList() {
  const status = useStore(notes, (value) => value.status);
  const list = useStore(notes, (value) => value.list);
  const query = useStore(notes, (value) => value.query);
  if (status === "loading") return html`<${Waiting} />`;
  if (status === "failed") return html`<${Unreadable} />`;
  if (!list.length && !query) return html`<${Nothing} />`;
  return html`<div class="note-search">
      <input type="search" aria-label=${t("notes.search")} placeholder=${t("notes.search")} value=${query} onInput=${(event) => searchNotes(event.target.value)} />
    </div>
    <div class="note-scroll">
      ${list.length
        ? html`<ul class="note-list" aria-label=${t("notes.list")}>${list.map((note) => html`<li key=${note.note_id}><${Row} note=${note} /></li>`)}</ul>`
        : html`<p class="empty" role="status">${t("notes.none_found", { query: query.trim() })}</p>`}
    </div>`;
}

function Row({ note }) {
  const quotes = new Set(note.citations.map((citation) => citation.n)).size;
  return html`<button type="button" class="note-row" onClick=${() => readNote(note)}>
    <strong>${titleOf(note)}</strong>
    <span class="note-lines">${linesOf(note)}</span>
    <span class="note-facts">${formatDate(note.updated_at)}${quotes > 0 && html` · ${t("notes.quote_count", { n: quotes })}`}</span>
  </button>`;
}

// Without a title the first line stands for it: then the rest follows.
function linesOf({ title, text }) {
  const lines = plainText(text).trim();
  return title ? lines : lines.split("\n").slice(1).join("\n");
}

function Nothing() {
  return html`<div class="empty note-empty">
    <${Icon} name="note" size="36" />
    <strong>${t("notes.empty_title")}</strong>
    <p>${t("notes.empty_text")}</p>
    <button type="button" class="button" onClick=${() => writeNote()}>${t("notes.new")}</button>
  </div>`;
}

function Waiting() {
  return html`<div class="panel-waiting" role="status" aria-label=${t("notes.loading")}>
    <div class="skeleton"></div>
    <div class="skeleton"></div>
  </div>`;
}

function Unreadable() {
  return html`<div class="empty">
    <strong>${t("notes.load_failed")}</strong>
    <button type="button" class="button" onClick=${openNotebook}>${t("notes.again")}</button>
  </div>`;
}
