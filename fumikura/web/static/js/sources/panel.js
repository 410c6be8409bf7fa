// @ts-check
import { formatNumber, language, t } from "../i18n.js";
import { useStore } from "../state.js";
import { Icon } from "../ui/icons.js";
import { html, useEffect, useMemo, useRef, useState } from "../vendor.js";
import "../strings/sources.js";
import { embedAgain, includeAll } from "./actions.js";
import { AddButton } from "./add.js";
import { Arrivals } from "./arrivals.js";
import { GaugeLine } from "./gauge.js";
import { sources } from "./progress.js";
import { ROW_HEIGHT, SourceRow } from "./row.js";
import { uploads } from "./uploads.js";

const ROWS_BEYOND = 8; // rendered above and below what is seen, so that Tab finds its next row
const SEARCH_FROM = 2; // with fewer sources a search box is only in the way

/** The left panel: add, find, choose and follow sources. */
export function SourcesPanel() {
  const { list, listing, embedding, notices, jobs } = useStore(sources);
  const arriving = useStore(uploads, (value) => value.files.length);
  const [query, setQuery] = useState("");
  const [order, setOrder] = useState("newest");
  const shown = useMemo(() => ordered(list.filter(matching(query)), order), [list, query, order]);
  const isLoading = listing < 0;
  const isEmpty = !isLoading && !list.length && !arriving && !jobs.some((job) => job.kind === "add");
  return html`<header class="panel-head">
      <h2>${t("panel.sources")}${list.length > 0 && html` <span class="head-count">${formatNumber(list.length)}</span>`}</h2>
    </header>
    <div class="sources-top">
      <${AddButton} />
      ${list.length >= SEARCH_FROM && html`<${Finder} ...${{ query, setQuery, order, setOrder }} />`}
    </div>
    <${Arrivals} />
    ${notices.map((notice) => html`<${Standstill} key=${notice} notice=${notice} />`)}
    ${list.length > 0 && html`<${GaugeLine} /><${IncludeAll} list=${list} />`} ${isLoading && html`<${Skeletons} />`}
    ${isEmpty && html`<${Empty} />`}
    ${list.length > 0 && !shown.length && html`<p class="empty">${t("sources.none_found", { query })}</p>`}
    ${shown.length > 0 && html`<${SourceList} shown=${shown} embedding=${embedding} />`}`;
}

const folded = (text) => text.normalize("NFKC").toLowerCase();

function matching(query) {
  const wanted = folded(query.trim());
  return (source) => !wanted || folded(`${source.name}\n${source.title}`).includes(wanted);
}

function ordered(list, order) {
  if (order === "newest") return list.toSorted((a, b) => (a.added_at < b.added_at ? 1 : a.added_at > b.added_at ? -1 : 0));
  const { compare } = new Intl.Collator(language(), { numeric: true });
  return list.toSorted((a, b) => compare(a.name, b.name));
}

function Finder({ query, setQuery, order, setOrder }) {
  return html`<div class="sources-find" role="search" aria-label=${t("sources.find")}>
    <div class="search-field">
      <${Icon} name="search" size=${16} />
      <input
        type="search"
        value=${query}
        placeholder=${t("sources.find")}
        aria-label=${t("sources.find")}
        onInput=${(event) => setQuery(event.target.value)}
      />
    </div>
    <select aria-label=${t("sources.order")} value=${order} onChange=${(event) => setOrder(event.target.value)}>
      <option value="newest">${t("sources.order.newest")}</option>
      <option value="name">${t("sources.order.name")}</option>
    </select>
  </div>`;
}

function IncludeAll({ list }) {
  const used = list.reduce((count, one) => count + (one.included ? 1 : 0), 0);
  const box = useRef(null);
  useEffect(() => {
    box.current.indeterminate = used > 0 && used < list.length;
  }, [used, list.length]);
  const all = used === list.length;
  return html`<label class="include-all">
    <input ref=${box} type="checkbox" checked=${all} onChange=${() => includeAll(!all)} />
    <span>${t("sources.use_all")}</span>
    <span class="include-count">${t("sources.used", { used, count: list.length })}</span>
  </label>`;
}

function Standstill({ notice }) {
  return html`<div class="notice sources-notice">
    <span>${notice}</span>
    <button type="button" class="link-button" onClick=${embedAgain}>${t("sources.go_on")}</button>
  </div>`;
}

function Empty() {
  return html`<div class="empty">
    <${Icon} name="book" size=${40} />
    <strong>${t("sources.empty")}</strong>
    <p>${t("sources.empty.text")}</p>
  </div>`;
}

function Skeletons() {
  const rows = [78, 62, 86, 54].map((width) => html`<div class="source-skeleton">
    <div class="skeleton" style=${{ width: `${width}%` }}></div>
    <div class="skeleton" style=${{ width: `${width / 2}%` }}></div>
  </div>`);
  return html`<div role="status" aria-label=${t("loading")}>${rows}</div>`;
}

/** Only the rows near the view are made: 2,000 sources scroll like twenty. */
function SourceList({ shown, embedding }) {
  const frame = useRef(null);
  const [view, setView] = useState({ first: 0, count: 30 });
  const done = useMemo(() => new Map(embedding.map((one) => [one.source_id, one.vector_count])), [embedding]);
  useEffect(() => {
    const element = frame.current;
    const measure = () => setView((now) => sameOr(now, visibleRows(element)));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => observer.disconnect();
  }, []);
  const first = Math.min(view.first, Math.max(0, shown.length - view.count));
  const rows = shown.slice(first, first + view.count);
  return html`<div ref=${frame} class="source-frame">
    <ul
      class="source-list"
      role="list"
      aria-label=${t("panel.sources")}
      style=${{ height: `${shown.length * ROW_HEIGHT}px`, paddingTop: `${first * ROW_HEIGHT}px` }}
    >
      ${rows.map(
        (source, index) => html`<${SourceRow}
          key=${source.source_id}
          source=${source}
          done=${done.get(source.source_id) ?? null}
          position=${first + index + 1}
          count=${shown.length}
        />`,
      )}
    </ul>
  </div>`;
}

function visibleRows({ scrollTop, clientHeight }) {
  const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
  return { first, count: Math.ceil(clientHeight / ROW_HEIGHT) + 2 * ROWS_BEYOND };
}

const sameOr = (now, next) => (now.first === next.first && now.count === next.count ? now : next);
