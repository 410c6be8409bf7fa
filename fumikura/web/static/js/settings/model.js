// @ts-check
import { get, patch, post } from "../api.js";
import { look } from "../sources/progress.js";
import { createStore } from "../state.js";

/**
 * `shown` and `health` are the server's answers; `drafts` are the texts typed but not saved, by key;
 * `errors` the server's words by key ("" for what belongs to no single field).
 */
export const settings = createStore({
  shown: /** @type {any} */ (null),
  health: /** @type {any} */ (null),
  drafts: /** @type {Record<string, string>} */ ({}),
  errors: /** @type {Record<string, string>} */ ({}),
  isBusy: false,
});

/** Fetch the settings and how the server's parts are; drafts stay. */
export async function loadSettings() {
  const [shown, health] = await Promise.all([get("/api/settings"), get("/api/health")]);
  settings.set({ shown, health });
}

const asText = (value) => (value === null || value === undefined ? "" : String(value));

/** What the field shows: the draft, else the value. */
export const textOf = (field, drafts) => drafts[field.key] ?? asText(field.value);

export const isDefault = (field, drafts) => textOf(field, drafts) === asText(field.default);

/** Keep what was typed; typing the saved value again is no change. */
export function draft(field, text) {
  settings.set(({ drafts, errors }) => {
    const { [field.key]: _old, ...others } = drafts;
    const { [field.key]: _error, ...left } = errors;
    return { drafts: text === asText(field.value) ? others : { ...others, [field.key]: text }, errors: left };
  });
}

export const dropDrafts = () => settings.set({ drafts: {}, errors: {} });

/** Send all drafts; a refusal changes nothing and is shown at its field. @returns {Promise<string[]>} changed keys */
export async function save() {
  const { shown, drafts } = settings.get();
  const changed = shown.fields.filter((field) => field.key in drafts);
  settings.set({ isBusy: true, errors: {} });
  try {
    const body = Object.fromEntries(changed.map((field) => [field.key, wanted(field, drafts)]));
    settings.set({ shown: await patch("/api/settings", body), drafts: {} });
    return changed.map((field) => field.effect);
  } catch (error) {
    settings.set({ errors: { [keyNamed(error, changed)]: [error.message, error.hint].filter(Boolean).join(" ") } });
    return [];
  } finally {
    settings.set({ isBusy: false });
  }
}

// null takes the key out of the file: it follows the default again.
function wanted(field, drafts) {
  const text = drafts[field.key];
  if (isDefault(field, drafts)) return null;
  const isNumber = field.kind === "integer" || field.kind === "number";
  return isNumber && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function keyNamed(error, changed) {
  const keys = changed.map((field) => field.key);
  const named = keys.find((key) => error.message.includes(key)) ?? keys.find((key) => error.message.includes(key.split(".")[1]));
  return named ?? (keys.length === 1 ? keys[0] : "");
}

/** Begin to rebuild the index; its progress is among the jobs. */
export async function reindex() {
  await post("/api/reindex");
  look();
}
