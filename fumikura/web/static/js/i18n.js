// @ts-check
import { createStore, remember, remembered } from "./state.js";

const strings = { ja: {}, en: {} };

/** The page's language; components that must follow it are rendered again by app.js. */
export const languageStore = createStore({ language: chosenLanguage() });

function chosenLanguage() {
  const kept = remembered("language");
  if (kept === "ja" || kept === "en") return kept;
  return navigator.language.toLowerCase().startsWith("ja") ? "ja" : "en";
}

/** "ja" or "en". */
export const language = () => languageStore.get().language;

/** Switch the language of the page and of the server's messages. */
export function setLanguage(next) {
  remember("language", next);
  languageStore.set({ language: next });
}

/** Add texts: {ja: {key: text}, en: {key: text}}. */
export function addStrings(added) {
  Object.assign(strings.ja, added.ja);
  Object.assign(strings.en, added.en);
}

/**
 * The text for `key`. `{name}` is replaced by a parameter (numbers with separators);
 * `{count:source|sources}` by the first word when count is 1, else by the second.
 */
export function t(key, params = {}) {
  const text = strings[language()][key] ?? key;
  return text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, name, one, many) => {
    if (!(name in params)) return whole;
    if (one !== undefined) return params[name] === 1 ? one : many;
    return typeof params[name] === "number" ? formatNumber(params[name]) : String(params[name]);
  });
}

/** 12345 → 12,345 */
export const formatNumber = (value) => new Intl.NumberFormat(language()).format(value);

/** 2048 → 2 KB */
export function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const unit = bytes < 999_500 ? "kilobyte" : "megabyte";
  const amount = bytes / (unit === "kilobyte" ? 1e3 : 1e6);
  const style = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: amount < 10 ? 1 : 0 };
  return new Intl.NumberFormat(language(), /** @type {any} */ (style)).format(amount);
}

/** An ISO date or time → "2026/03/05" / "5 Mar 2026"; what is no date is shown as it stands. */
export function formatDate(iso) {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return iso ?? "";
  const style = language() === "ja" ? { year: "numeric", month: "2-digit", day: "2-digit" } : { dateStyle: "medium" };
  const locale = language() === "ja" ? "ja" : "en-GB";
  return new Intl.DateTimeFormat(locale, /** @type {any} */ (style)).format(date);
}

/** An ISO time → date and hour. */
export function formatTime(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso ?? "";
  const hour = new Intl.DateTimeFormat(language() === "ja" ? "ja" : "en-GB", { hour: "2-digit", minute: "2-digit" });
  return `${formatDate(iso)} ${hour.format(date)}`;
}
