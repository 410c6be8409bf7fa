// @ts-check
import { del, inNotebook, patch, post } from "../api.js";
import { t } from "../i18n.js";
import { toast, toastError } from "../ui/toast.js";
import { changeInList, look, sources } from "./progress.js";

const path = (source) => inNotebook(`/sources/${source.source_id}`);

// Shown at once, put back when the server refuses.
async function change(source, wanted) {
  const before = Object.fromEntries(Object.keys(wanted).map((key) => [key, source[key]]));
  changeInList(source.source_id, wanted);
  try {
    changeInList(source.source_id, await patch(path(source), wanted));
    look(); // what is read in full may be another now
  } catch (error) {
    changeInList(source.source_id, before);
    toastError(error);
  }
}

export const renameSource = (source, name) => change(source, { name });
export const setIncluded = (source, included) => change(source, { included });
export const setPinned = (source, pinned) => change(source, { pinned });

/** Use all sources, or none. */
export async function includeAll(included) {
  const before = sources.get().list;
  sources.set({ list: before.map((one) => ({ ...one, included })) });
  try {
    await patch(inNotebook("/sources"), { included });
  } catch (error) {
    sources.set({ list: before });
    toastError(error);
  }
}

/** Delete with a way back for as long as the server keeps it. */
export async function deleteSource(source) {
  const restore = inNotebook(`/sources/${source.source_id}/restore`);
  try {
    const { undo_s: undo, name, notices } = await del(`${path(source)}?undo=true`);
    const row = document.activeElement?.closest("li.source");
    sources.set(({ list }) => ({ list: list.filter((one) => one.source_id !== source.source_id) }));
    focusBeside(row);
    const message = [t("source.deleted", { name }), ...notices].join(" ");
    toast(message, undo ? { action: t("undo"), ms: undo * 1000, onAction: () => attempt(post(restore)) } : {});
  } catch (error) {
    toastError(error);
  }
  look();
}

// The focus was in the row that goes away: it goes to the next one, or to where sources are added.
function focusBeside(row) {
  if (!row) return;
  const next = row.nextElementSibling ?? row.previousElementSibling;
  (next ?? row.closest(".panel")).querySelector(next ? ".source-name" : ".add-button").focus();
}

/** Retry, cancel or dismiss a job; go on embedding. */
export const retryJob = (job) => attempt(post(inNotebook(`/jobs/${job.job_id}/retry`)));
export const cancelJob = (job) => attempt(post(inNotebook(`/jobs/${job.job_id}/cancel`)));
export const dismissJob = (job) => attempt(del(inNotebook(`/jobs/${job.job_id}`)));
export const embedAgain = () => attempt(post(inNotebook("/embed")));

async function attempt(request) {
  try {
    await request;
  } catch (error) {
    toastError(error);
  }
  look();
}
