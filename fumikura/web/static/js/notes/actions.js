// @ts-check
/** The notes of the open notebook: their store, and what can be done with them. */
import { del, get, inNotebook, onReconnect, post } from "../api.js";
import { t } from "../i18n.js";
import { fetched } from "../later.js";
import { plainText } from "../marked.js";
import { look } from "../sources/progress.js";
import { app, createStore, remembered } from "../state.js";
import { toast, toastError } from "../ui/toast.js";
import { firstLine } from "../chat/model.js";

/**
 * `status`: "loading" | "ready" | "failed". `open`: the note shown alone, or null for the list.
 * `writing`: where the open note is being written (see writing.js), or null while it is only read.
 */
export const notes = createStore({
  notebookId: /** @type {any} */ (null),
  status: "loading",
  list: /** @type {any[]} */ ([]),
  query: "",
  open: /** @type {any} */ (null),
  writing: /** @type {any} */ (null),
});

/** Show the open notebook's notes; nothing happens where they are shown already (the page only changed language). */
export async function showNotebook() {
  if (notes.get().notebookId !== app.get().notebook?.id) await openNotebook();
}

/** Load the notes; text that an earlier page could not save is opened again. */
export async function openNotebook() {
  notes.set({ notebookId: app.get().notebook?.id, status: "loading", list: [], query: "", open: null, writing: null });
  await loadNotes();
  const draft = remembered(draftKey());
  if (!draft || !(await writeNote(JSON.parse(draft)))) return;
  notes.get().writing.change({});
  toast(t("notes.draft_restored"));
}

onReconnect(() => notes.get().status === "failed" && openNotebook());

/** Load those that match the query; an answer to an older query is dropped. */
export async function loadNotes() {
  const { query, notebookId } = notes.get();
  try {
    const found = await get(inNotebook(query.trim() ? `/notes?q=${encodeURIComponent(query.trim())}` : "/notes"));
    if (notes.get().query !== query || notes.get().notebookId !== notebookId) return;
    notes.set({ list: found.notes, status: "ready" });
  } catch (error) {
    notes.set(({ status }) => ({ status: status === "ready" ? status : "failed" }));
    toastError(error);
  }
}

let searching = 0;

/** Search a moment after the last key. @param {string} query */
export function searchNotes(query) {
  notes.set({ query });
  clearTimeout(searching);
  searching = setTimeout(loadNotes, 200);
}

/**
 * Keep an answer (or any text) as a note. @returns {Promise<any>} the Note, or null when it failed (the person knows)
 * @param {{title?: string, text: string, citations?: any[], question?: string}} note
 */
export async function addNote(note) {
  try {
    const added = await post(inNotebook("/notes"), note);
    await loadNotes();
    return added;
  } catch (error) {
    toastError(error);
    return null;
  }
}

/** Read a note. */
export function readNote(note) {
  notes.set({ open: note, writing: null });
}

/** Where this browser keeps what is written until the server has it. */
export const draftKey = () => `note-draft.${app.get().notebook?.id}`;

/** Write on a note, or on a new one. False where the field for it could not be fetched. */
export async function writeNote(note = { note_id: null, title: "", text: "", citations: [], question: "" }) {
  const { notebookId } = notes.get();
  const editor = await fetched(() => import("./editor.js"));
  if (!editor || notes.get().notebookId !== notebookId) return false;
  const writing = editor.begin(note, (saved) => {
    notes.set(({ open, writing: now }) => (now === writing ? { open: saved } : { open }));
    loadNotes();
  });
  notes.set({ open: note, writing });
  return true;
}

/** Save what was written and read it. Where it cannot be saved the field stays open. */
export async function finishWriting() {
  const { writing } = notes.get();
  if (!(await writing.save())) return;
  const { note } = writing.store.get();
  notes.set(note.note_id ? { open: note, writing: null } : { open: null, writing: null });
}

/** Back to the list; what was written is saved first. */
export async function closeNote() {
  const { writing } = notes.get();
  if (writing && !(await writing.save())) return;
  notes.set({ open: null, writing: null });
}

/** Delete, with a way back. */
export async function removeNote(note) {
  try {
    const removed = await del(inNotebook(`/notes/${note.note_id}`));
    notes.set({ open: null, writing: null });
    await loadNotes();
    toast(t("notes.deleted", { title: titleOf(removed) }), { action: t("notes.undo"), onAction: () => putBack(removed), ms: 20_000 });
  } catch (error) {
    toastError(error);
  }
}

async function putBack({ title, text, citations, question }) {
  const note = await addNote({ title, text, citations, question });
  if (note) toast(t("notes.restored", { title: titleOf(note) }));
}

/** Make the note a source, or bring the source that it became up to date. */
export async function makeSource(note) {
  try {
    await post(inNotebook(`/notes/${note.note_id}/source`));
    toast(t("notes.made_source", { title: titleOf(note) }));
    await look();
    await loadNotes();
  } catch (error) {
    toastError(error);
  }
}

/** What a note is called in the list. */
export const titleOf = (note) => note.title || firstLine(plainText(note.text), 40) || t("notes.untitled");
