// @ts-check
/** Checked text with its numbered marks: the quote on hover and focus, the source on click. Chat and notes use it. */
import { formatNumber, t } from "../i18n.js";
import { Marked } from "../marked.js";
import { openSource } from "../sources/open.js";
import { sources } from "../sources/progress.js";
import { useStore } from "../state.js";
import { html, render, useMemo } from "../vendor.js";
import { passageOf, place } from "./model.js";

const SHOW_MS = 120;
const HIDE_MS = 220; // long enough to move the pointer into the quote
const QUOTE_ID = "quote-popover";

/** Markdown `text` whose `[n]` are `citations`. */
export function MarkedText({ text, citations, class: extra = "" }) {
  const options = useMemo(() => ({ numbers: citations.map((citation) => citation.n) }), [citations]);
  const cited = (event) => {
    const mark = event.target.closest?.("button.mark");
    const found = mark && citations.filter((citation) => String(citation.n) === mark.dataset.n);
    return found?.length ? { mark, found } : null;
  };
  const show = (event) => {
    const { mark, found } = cited(event) ?? {};
    if (mark && (event.type !== "focusin" || mark.matches(":focus-visible"))) showSoon(mark, found);
  };
  const open = (event) => {
    const { mark, found } = cited(event) ?? {};
    if (!mark) return;
    hideQuotes();
    openSource(passageOf(found));
  };
  const leave = (event) => cited(event) && hideSoon();
  const keys = (event) => event.key === "Escape" && hideQuotes();
  const pointing = { onMouseOver: show, onMouseOut: leave, onFocusIn: show, onFocusOut: leave, onKeyDown: keys };
  return html`<${Marked} text=${text} options=${options} class=${extra} ...${pointing} onClick=${open} />`;
}

/** Whether a source that was quoted has been removed since. */
export function useIsGone(sourceId) {
  return useStore(sources, (value) => isGone(value, sourceId));
}

let known = { list: /** @type {any} */ (null), ids: new Set() }; // of the list last asked about

function isGone({ list, listing }, sourceId) {
  if (known.list !== list) known = { list, ids: new Set(list.map((source) => source.source_id)) };
  return listing !== -1 && !known.ids.has(sourceId);
}

/** The sources used, each opening at its quotes. */
export function UsedSources({ used, label }) {
  return html`<ol class="used" aria-label=${label}>
    ${used.map((one) => html`<li key=${one.n}><${UsedSource} used=${one} /></li>`)}
  </ol>`;
}

/** One source used: its number, name and place; a click opens it at its quotes. */
export function UsedSource({ used }) {
  const gone = useIsGone(used.source_id);
  const label = t("answer.open_source", { n: formatNumber(used.n), place: place(used) });
  return html`<button type="button" class="used-source" aria-label=${label} onClick=${() => openSource(passageOf(used.citations))}>
    <span class="mark mark-quiet" aria-hidden="true">${used.n}</span>
    <span class="used-name">${used.source}</span>
    <span class="used-place">${place({ ...used, source: "" })}</span>
    ${gone && html`<span class="gone">${t("quote.gone")}</span>`}
  </button>`;
}

let timer = 0;

function showSoon(mark, citations) {
  clearTimeout(timer);
  timer = setTimeout(() => showQuotes(mark, citations), SHOW_MS);
}

function hideSoon() {
  clearTimeout(timer);
  timer = setTimeout(hideQuotes, HIDE_MS);
}

/** Take the quote away. */
export function hideQuotes() {
  clearTimeout(timer);
  const popover = document.getElementById(QUOTE_ID);
  if (popover?.matches(":popover-open")) popover.hidePopover();
}

// One element for all marks, in the top layer: turns are contained (content-visibility) and would clip it.
function quotePopover() {
  const known = document.getElementById(QUOTE_ID);
  if (known) return known;
  const made = document.createElement("div");
  Object.assign(made, { id: QUOTE_ID, className: "quote-popover", popover: "manual" });
  made.setAttribute("role", "tooltip");
  made.addEventListener("mouseenter", () => clearTimeout(timer));
  made.addEventListener("mouseleave", hideSoon);
  addEventListener("scroll", (event) => event.target !== made && hideQuotes(), { capture: true, passive: true });
  document.body.append(made);
  return made;
}

function showQuotes(mark, citations) {
  if (!mark.isConnected) return;
  const popover = quotePopover();
  render(html`<${Quotes} citations=${citations} />`, popover);
  mark.setAttribute("aria-describedby", QUOTE_ID);
  if (!popover.matches(":popover-open")) popover.showPopover();
  putBeside(popover, mark.getBoundingClientRect());
}

/** Above the mark where there is room, else below; never over the window's edge. */
function putBeside(popover, from) {
  const size = popover.getBoundingClientRect();
  const left = Math.max(8, Math.min(from.left + from.width / 2 - size.width / 2, innerWidth - size.width - 8));
  const above = from.top - size.height - 6;
  popover.style.left = `${left}px`;
  popover.style.top = `${above > 8 ? above : from.bottom + 6}px`;
}

function Quotes({ citations }) {
  const [first] = citations;
  const gone = useIsGone(first.source_id);
  return html`<div>
    <p class="quote-place"><strong>${first.source}</strong> <span>${place({ ...first, source: "" })}</span></p>
    ${citations.map((citation) => html`<blockquote key=${citation.start}>${citation.quote}</blockquote>`)}
    <p class="quote-hint">${gone ? t("quote.gone") : t("quote.open")}</p>
  </div>`;
}
