// @ts-check
import { inNotebook } from "../api.js";
import { formatBytes, formatDate, t } from "../i18n.js";
import { isComposing } from "../keys.js";
import { IconButton } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { html, memo, useEffect, useRef, useState } from "../vendor.js";
import { deleteSource, renameSource, setIncluded, setPinned } from "./actions.js";
import { openSource } from "./open.js";

const KINDS = { markdown: "MD", text: "TXT" };

/** "markdown" → MD, "pdf" → PDF */
export const kindLabel = (kind) => KINDS[kind] ?? kind.toUpperCase();

/** Pixels; the list is windowed, so every row is as high as css/sources.css says. */
export const ROW_HEIGHT = 62;

/** One source of the list; `done`: the vectors it has while it is being embedded, else null. */
export const SourceRow = memo(function SourceRow({ source, done, position, count }) {
  const [isRenaming, setRenaming] = useState(false);
  const { source_id: id, name, included, pinned } = source;
  const toggle = (event) => setIncluded(source, event.target.checked);
  return html`<li class=${`source ${included ? "" : "source-left-out"}`} aria-setsize=${count} aria-posinset=${position}>
    <input type="checkbox" checked=${included} aria-label=${t("source.include", { name })} title=${t("source.include.tip")} onChange=${toggle} />
    ${isRenaming
      ? html`<${NameField} source=${source} end=${() => setRenaming(false)} />`
      : html`<button type="button" class="source-name" aria-label=${name} title=${[name, source.title].filter(Boolean).join("\n")} onClick=${() => openSource({ source_id: id, source: name })}>
          <${NameParts} name=${name} />
        </button>`}
    <div class="source-tools">
      <${IconButton}
        icon="pin"
        size=${16}
        class=${pinned ? "pin pinned" : "pin"}
        aria-pressed=${String(pinned)}
        label=${t("source.pin", { name })}
        title=${t(pinned ? "source.unpin.tip" : "source.pin.tip")}
        onClick=${() => setPinned(source, !pinned)}
      />
      <${Menu} label=${t("source.menu", { name })} entries=${menuEntries(source, setRenaming)} />
    </div>
    <${SecondLine} source=${source} done=${done} />
  </li>`;
});

function menuEntries(source, setRenaming) {
  const download = () => location.assign(inNotebook(`/sources/${source.source_id}/original`));
  return [
    { label: t("source.open"), icon: "book", onSelect: () => openSource({ source_id: source.source_id, source: source.name }) },
    { label: t("source.rename"), icon: "edit", onSelect: () => setRenaming(true) },
    { label: t("source.download"), icon: "download", onSelect: download },
    { label: t(source.pinned ? "source.unpin" : "source.pin_it"), icon: "pin", onSelect: () => setPinned(source, !source.pinned) },
    "line",
    { label: t("delete"), icon: "trash", danger: true, onSelect: () => deleteSource(source) },
  ];
}

function SecondLine({ source, done }) {
  const { status, chunk_count: count, vector_count: vectors } = source;
  if (status === "no_text") return html`<p class="source-meta danger-text" title=${source.notices.join(" ")}>${t("source.no_text")}</p>`;
  if (status === "keyword_ready" && done !== null) {
    return html`<div class="source-meta">
      ${t("source.embedding", { done: Math.max(done, vectors), count })}
      <${Bar} share=${Math.max(done, vectors) / Math.max(count, 1)} />
    </div>`;
  }
  const facts = [
    kindLabel(source.kind),
    formatBytes(source.size_bytes),
    status === "keyword_ready" ? t("source.keyword_ready") : source.date && formatDate(source.date),
    t("source.chunks", { count }),
    source.encoding_certain ? "" : t("source.uncertain"),
  ].filter(Boolean);
  return html`<p class="source-meta" title=${facts.join(" · ")}>${facts.join(" · ")}</p>`;
}

/** A name that is cut, where room is short, in its folders first: 2024/minu…/march.md */
export function NameParts({ name }) {
  const at = name.lastIndexOf("/") + 1;
  return html`${at > 0 && html`<span class="name-folder">${name.slice(0, at)}</span>`}<span class="name-file">${name.slice(at)}</span>`;
}

/** A thin bar; share 0 to 1. The words beside it say the same. */
export function Bar({ share }) {
  return html`<div class="bar" aria-hidden="true"><span style=${{ width: `${Math.round(share * 100)}%` }}></span></div>`;
}

function NameField({ source, end }) {
  const [name, setName] = useState(source.name);
  const isOver = useRef(false); // taking the focused field away is a blur, too
  const leave = () => {
    isOver.current = true;
    end();
  };
  const save = () => {
    if (isOver.current) return;
    leave();
    if (name.trim() && name.trim() !== source.name) renameSource(source, name.trim());
  };
  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter") save();
    if (event.key === "Escape") leave();
  };
  const field = useRef(null);
  useEffect(() => field.current.select(), []); // focuses it, too
  return html`<input
    ref=${field}
    class="source-rename"
    aria-label=${t("source.rename")}
    value=${name}
    maxlength="200"
    onInput=${(event) => setName(event.target.value)}
    onKeyDown=${onKeyDown}
    onBlur=${save}
  />`;
}
