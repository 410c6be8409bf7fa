// @ts-check
/**
 * A note while it is written. Every change is kept in this browser at once, and on the server after a second without
 * a key, when the field is left, and when the server can be reached again: text is not lost between the two.
 */
import { ApiError, get, inNotebook, patch, post } from "../api.js";
import { createStore, remember } from "../state.js";
import { draftKey } from "./actions.js";

const SAVE_MS = 1000;

/**
 * Begin to write. `store`: {note, state: "saved" | "unsaved" | "saving" | "failed" | "conflict", error};
 * `change(part)` takes title or text; `save()` is true when all is on the server; `onSaved(note)` follows each save.
 * "conflict": the note was saved elsewhere meanwhile. Nothing is sent then, until `overwrite()` puts this text in the place
 * of the other one, or `keepBoth()` makes this text a note of its own; it returns the other note, null where it failed.
 */
export function startWriting(note, onSaved) {
  const path = inNotebook("/notes");
  const key = draftKey();
  const store = createStore({ note, state: "saved", error: "" });
  let timer = 0;
  let saving = /** @type {Promise<boolean> | null} */ (null);

  const change = (part) => {
    store.set(({ note: now, state }) => ({ note: { ...now, ...part }, state: state === "conflict" ? state : "unsaved", error: "" }));
    remember(key, JSON.stringify(store.get().note));
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_MS);
  };
  const save = () => {
    clearTimeout(timer);
    saving ??= saveAll().finally(() => (saving = null));
    return saving;
  };
  const saveAll = async () => {
    while (store.get().state !== "saved") {
      const { note: written, state } = store.get();
      if (isBlank(written)) return true;
      if (state === "conflict") return false;
      store.set({ state: "saving" });
      try {
        settle(written, await send(path, written));
      } catch (error) {
        return refused(error, error.status === 409 && written.note_id ? "conflict" : "failed");
      }
    }
    return true;
  };
  const refused = (error, state) => {
    if (!(error instanceof ApiError)) throw error;
    store.set({ state, error: error.code === "offline" || error.status === 409 ? "" : error.message });
    return false;
  };
  const overwrite = () => resolve((other) => ({ updated_at: other?.updated_at }));
  const keepBoth = () => resolve(() => ({ note_id: null }));
  const resolve = async (part) => {
    try {
      const other = await otherNote(`${path}/${store.get().note.note_id}`);
      store.set(({ note: now }) => ({ note: { ...now, ...part(other) }, state: "unsaved" }));
      return (await save()) ? other : null;
    } catch (error) {
      return refused(error, "conflict") || null;
    }
  };
  // The fields keep what was typed, also while it was being saved (then it is saved next): the server gives a note
  // without a title one of its own, which would stay at the first half of a line.
  const settle = (written, saved) => {
    const { title, text } = store.get().note;
    const same = title === written.title && text === written.text;
    store.set({ note: { ...saved, title, text }, state: same ? "saved" : "unsaved" });
    remember(key, same ? "" : JSON.stringify(store.get().note));
    onSaved(saved);
  };
  return { store, change, save, overwrite, keepBoth };
}

const isBlank = (note) => !note.note_id && !note.title.trim() && !note.text.trim();

/** As it is on the server now; null where it was deleted. */
async function otherNote(path) {
  try {
    return await get(path);
  } catch (error) {
    if (error.status !== 404) throw error;
    return null;
  }
}

/** Save what was written. Refused (409) where someone else has written on the note since; one deleted meanwhile is made anew. */
async function send(path, { note_id, title, text, citations, question, updated_at }) {
  const anew = () => post(path, { title, text, citations, question });
  if (!note_id) return anew();
  try {
    return await patch(`${path}/${note_id}`, { title, text, updated_at });
  } catch (error) {
    if (error.status === 404) return anew();
    throw error;
  }
}
