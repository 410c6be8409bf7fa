// @ts-check
import { inNotebook, upload } from "../api.js";
import { createStore } from "../state.js";

const AT_ONCE = 2;

/** Files on their way: {id, file, path, state: "waiting" | "sending" | "failed", share, error}. */
export const uploads = createStore({ files: /** @type {any[]} */ ([]) });

let nextId = 1;
let onArrival = (_jobs, _path) => {};

/** `arrived(jobs, path)` is called whenever a file has reached the server, or failed to (no jobs). */
export const whenArrived = (arrived) => void (onArrival = arrived);

/** Send files to the open notebook, two at a time. */
export function sendFiles(files) {
  const path = inNotebook("/sources"); // fixed now: another notebook may be opened while they are sent
  const added = files.map((file) => ({ id: nextId++, file, path, state: "waiting", share: 0, error: null }));
  uploads.set((now) => ({ files: [...now.files, ...added] }));
  sendNext();
}

/** Try a failed file again. */
export function sendAgain(id) {
  change(id, { state: "waiting", share: 0, error: null });
  sendNext();
}

/** Forget a file that waits or has failed. */
export const dropUpload = (id) => uploads.set((now) => ({ files: now.files.filter((one) => one.id !== id) }));

const change = (id, patch) =>
  uploads.set((now) => ({ files: now.files.map((one) => (one.id === id ? { ...one, ...patch } : one)) }));

function sendNext() {
  const { files } = uploads.get();
  const free = AT_ONCE - files.filter((one) => one.state === "sending").length;
  for (const one of files.filter((file) => file.state === "waiting").slice(0, free)) send(one);
}

async function send({ id, path, file }) {
  change(id, { state: "sending" });
  try {
    const { jobs } = await upload(path, file, { onProgress: (share) => change(id, { share }) });
    dropUpload(id);
    onArrival(jobs, path);
  } catch (error) {
    change(id, { state: "failed", error });
    onArrival([], path);
  }
  sendNext();
}
