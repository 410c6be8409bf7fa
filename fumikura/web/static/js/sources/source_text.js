// @ts-check
import { t } from "../i18n.js";
import { Marked } from "../marked.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef } from "../vendor.js";
import { cutRuns } from "./offsets.js";
import { WINDOW } from "./reading.js";

/** The text of a source: as extracted, with its quotes marked, or (Markdown) rendered. */
export function SourceText({ source, part, shown, target, isRendered, turnTo }) {
  const frame = useRef(null);
  const headings = useMemo(() => source.outline.map((one) => one.start), [source]);
  useLayoutEffect(() => scrollTo(frame.current, target?.offset), [part, target, isRendered]);
  useEffect(() => frame.current.focus({ preventScroll: true }), []);
  if (!part.length) return html`<p ref=${frame} tabindex="-1" class="empty">${t("viewer.no_text")}</p>`;
  const range = { start: part.start + 1, end: part.end, length: part.length };
  return html`<div ref=${frame} class="viewer-text" tabindex="0" role="region" aria-label=${t("viewer.text")}>
    ${part.start > 0 && html`<${Turn} label="viewer.earlier" range=${range} turn=${() => turnTo(Math.max(0, part.start - WINDOW))} />`}
    ${isRendered
      ? html`<${Rendered} text=${part.text} />`
      : html`<${Plain} part=${part} shown=${shown} headings=${headings} />`}
    ${part.end < part.length && html`<${Turn} label="viewer.later" range=${range} turn=${() => turnTo(part.end)} />`}
  </div>`;
}

function scrollTo(frame, offset) {
  const at = offset === undefined ? null : frame.querySelector(`[data-start="${offset}"]`);
  const place = at ?? (offset === undefined ? firstMark(frame) : null);
  if (place) place.scrollIntoView({ block: offset === undefined ? "center" : "start" });
  else frame.scrollTop = 0;
}

// Of several quotes the one that was asked for first, not the one that stands first in the text.
const firstMark = (frame) => frame.querySelector('mark[data-quote="0"]') ?? frame.querySelector("mark");

function Turn({ label, range, turn }) {
  return html`<div class="viewer-turn">
    <button type="button" class="button small" onClick=${turn}>${t(label)}</button>
    <span class="hint">${t("viewer.part", range)}</span>
  </div>`;
}

function Plain({ part, shown, headings }) {
  const runs = useMemo(() => cutRuns(part.text, part.start, shown, headings), [part, shown, headings]);
  let start = part.start;
  return html`<div class="viewer-plain">
    ${runs.map((run) => {
      const at = start;
      start += [...run.text].length;
      if (run.quote !== null) return html`<mark data-start=${at} data-quote=${run.quote} aria-label=${t("viewer.quote")}>${run.text}</mark>`;
      return html`<span data-start=${at} class=${run.heading === null ? undefined : "viewer-section"}>${run.text}</span>`;
    })}
  </div>`;
}

function Rendered({ text }) {
  return html`<p class="hint">${t("viewer.rendered_note")}</p>
    <${Marked} text=${text} class="viewer-rendered" />`;
}
