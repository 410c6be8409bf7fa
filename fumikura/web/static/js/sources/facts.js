// @ts-check
import { formatBytes, formatDate, t } from "../i18n.js";
import { html } from "../vendor.js";
import { kindLabel } from "./row.js";

/** What is known about a source, its notices, and what became of quotes that no longer stand where they stood. */
export function Facts({ source, quotes }) {
  const facts = [
    [t("viewer.kind"), kindLabel(source.kind)],
    [t("viewer.size"), formatBytes(source.size_bytes)],
    [t("viewer.length"), t("viewer.characters", { count: source.length })],
    [t("viewer.date"), source.date && formatDate(source.date)],
    [t("viewer.chunks"), t("source.chunks", { count: source.chunk_count })],
    [t("viewer.encoding"), source.encoding && html`<${Encoding} source=${source} />`],
  ];
  return html`<dl class="viewer-facts">
      ${facts.filter(([, value]) => value).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
    </dl>
    ${source.title && source.title !== source.name && html`<p class="viewer-subtitle">${source.title}</p>`}
    ${source.notices.map((notice) => html`<p class="notice">${notice}</p>`)} <${Moved} quotes=${quotes} />`;
}

function Encoding({ source }) {
  if (source.encoding_certain) return source.encoding;
  return html`${source.encoding}
    <span class="chip chip-warning" title=${t("viewer.uncertain.tip")}>${t("viewer.uncertain")}</span>`;
}

function Moved({ quotes }) {
  const changed = quotes.filter((one) => one.state === "changed");
  const hasMoved = quotes.some((one) => one.state === "moved");
  return html`${hasMoved && html`<p class="notice" role="status">${t("viewer.moved")}</p>`}
  ${changed.length > 0 &&
  html`<div class="notice notice-danger" role="status">
    <div>
      <p>${t("viewer.changed")}</p>
      ${changed.map((one) => html`<blockquote class="viewer-quote">${one.quote}</blockquote>`)}
    </div>
  </div>`}`;
}
