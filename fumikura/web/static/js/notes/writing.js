// @ts-check
/**
 * A note while it is written. Every change is kept in this browser at once, and on the server after a second without
 * a key, when the field is left, and when the server can be reached again: text is not lost between the two.
 */
import { ApiError, inNotebook, patch, post } from "../api.js";
import { app, createStore, remember, remembered } from "../state.js";

const SAVE_MS = 1000;
const draftKey = () => `note-draft.${app.get().notebook?.id}`;

/** The note with text that was not saved when the page was left, or null. */
export function keptDraft() {
  const kept = remembered(draftKey());
  return kept ? JSON.parse(kept) : null;
}

/**
 * Begin to write. `store`: {note, state: "saved" | "unsaved" | "saving" | "failed", error};
 * `change(part)` takes title or text; `save()` is true when all is on the server; `onSaved(note)` follows each save.
 */
export function startWriting(note, onSaved) {
  const path = inNotebook("/notes");
  const key = draftKey();
  const store = createStore({ note, state: "saved", error: "" });
  let timer = 0;
  let saving = /** @type {Promise<boolean> | null} */ (null);

  const change = (part) => {
    store.set(({ note: now }) => ({ note: { ...now, ...part }, state: "unsaved", error: "" }));
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
      const { note: written } = store.get();
      if (isBlank(written)) return true;
      store.set({ state: "saving" });
      try {
        settle(written, await send(path, written));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        store.set({ state: "failed", error: error.code === "offline" ? "" : error.message });
        return false;
      }
    }
    return true;
  };
  // The fields keep what was typed, also while it was being saved (then it is saved next): the server gives a note
  // without a title one of its own, which would stay at the first half of a line.
  const settle = (written, saved) => {
    const { title, text } = store.get().note;
    const same = title === written.title && text === written.text;
    store.set({ note: { ...saved, title, text }, state: same ? "saved" : "unsaved" });
    if (same) remember(key, "");
    onSaved(saved);
  };
  return { store, change, save };
}

const isBlank = (note) => !note.note_id && !note.title.trim() && !note.text.trim();

/** A note that was deleted elsewhere while it was written is made anew. */
async function send(path, { note_id, title, text, citations, question }) {
  if (!note_id) return post(path, { title, text, citations, question });
  try {
    return await patch(`${path}/${note_id}`, { title, text });
  } catch (error) {
    if (error.status !== 404) throw error;
    return post(path, { title, text, citations, question });
  }
}
