// @ts-check
import { get, inNotebook, onReconnect } from "../api.js";
import { languageStore } from "../i18n.js";
import { loadNotebooks } from "../notebooks.js";
import { app, createStore } from "../state.js";
import { toastError } from "../ui/toast.js";
import { uploads } from "./uploads.js";

const BUSY_MS = 700;
const QUIET_MS = 15_000;

/** The open notebook's sources. `listing` is the server's number of the list shown (-1: none yet). */
export const sources = createStore({
  notebookId: /** @type {number | string | null} */ (null),
  listing: -1,
  list: /** @type {any[]} */ ([]),
  jobs: /** @type {any[]} */ ([]),
  embedding: /** @type {any[]} */ ([]),
  notices: /** @type {string[]} */ ([]),
  core: /** @type {any} */ (null), // how far the resident core is computed
  gauge: /** @type {any} */ (null), // how full it is: GET /core, or only its `notice` where the server cannot say
});

let timer = 0;
let isLooking = false;
let lookAgain = false;
let gaugeOf = ""; // what the gauge was asked for

/** Begin to follow the open notebook; called once. */
export function watchProgress() {
  const open = ({ notebook }) => {
    if ((notebook?.id ?? null) === sources.get().notebookId) return;
    const empty = { listing: -1, list: [], jobs: [], embedding: [], notices: [], core: null, gauge: null };
    sources.set({ notebookId: notebook?.id ?? null, ...empty });
    look();
  };
  app.subscribe(open);
  open(app.get());
  languageStore.subscribe(() => (sources.set({ listing: -1 }), look())); // the server's messages change too
  addEventListener("focus", look);
  document.addEventListener("visibilitychange", () => !document.hidden && look());
  onReconnect(look);
}

/** Ask the server now what has changed; a call during another one leads to one more. */
export async function look() {
  clearTimeout(timer);
  lookAgain = isLooking;
  const id = sources.get().notebookId;
  if (isLooking || id === null) return;
  isLooking = true;
  try {
    await follow(id);
  } catch (error) {
    await explain(error);
  } finally {
    isLooking = false;
    timer = setTimeout(look, lookAgain ? 0 : isBusy() && !document.hidden ? BUSY_MS : QUIET_MS);
  }
}

async function follow(id) {
  const { listing, jobs, embedding, notices, core } = await get(inNotebook("/progress"));
  const hasChanged = listing !== sources.get().listing;
  const fresh = hasChanged ? await get(inNotebook("/sources")) : null;
  if (sources.get().notebookId !== id) return void (lookAgain = true); // another notebook was opened meanwhile
  sources.set({ jobs, embedding, notices, core, ...(fresh && { list: fresh.sources, listing: fresh.listing }) });
  const wanted = [id, listing, app.get().notebook?.mode, core?.stage, core?.total_tokens].join();
  if (core && wanted !== gaugeOf) {
    await readGauge();
    gaugeOf = wanted;
  }
  if (fresh && fresh.sources.length !== app.get().notebook?.source_count) await loadNotebooks();
}

/** Ask anew how full the core is. */
export async function readGauge() {
  const id = sources.get().notebookId;
  const gauge = await get(inNotebook("/core")).catch((error) => {
    if (!error.status) throw error;
    return { notice: error.message, room_tokens: 0, used_tokens: 0, sources: [], answers: [] };
  });
  if (sources.get().notebookId === id) sources.set({ gauge });
}

async function explain(error) {
  if (error.status === 404) await loadNotebooks(); // deleted in another tab
  else toastError(error);
}

function isBusy() {
  const { jobs, embedding, core } = sources.get();
  const isGoingOn = (job) => job.state === "queued" || job.state === "running";
  const isGettingReady = ["waiting", "computing"].includes(core?.stage);
  return isGettingReady || embedding.length > 0 || jobs.some(isGoingOn) || uploads.get().files.some((one) => one.state === "sending");
}

/** Change one source in the list at once, before the server has answered. */
export function changeInList(sourceId, change) {
  sources.set(({ list }) => ({ list: list.map((one) => (one.source_id === sourceId ? { ...one, ...change } : one)) }));
}
