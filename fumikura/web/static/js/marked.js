// @ts-check
/** Markdown for components. Its parser is fetched once the panels are there, long before a model has answered. */
import { fetched } from "./later.js";
import { createStore, useStore } from "./state.js";
import { html, useMemo } from "./vendor.js";

const parser = createStore({ render: /** @type {any} */ (null) });
let loading = /** @type {Promise<void> | null} */ (null);

/** Resolves when Markdown can be shown; where its parser cannot be fetched, texts stay as they were written. */
export function markdownReady() {
  loading ??= fetched(() => import("./markdown.js")).then((module) => parser.set({ render: module?.renderMarkdown ?? null }));
  return loading;
}

/** A text rendered as renderMarkdown does (options: numbers, live); `rest` goes to its <div>. */
export function Marked({ text, options, class: extra = "", ...rest }) {
  const render = useStore(parser, (value) => value.render);
  const markup = useMemo(() => render && { __html: render(text, options) }, [render, text, options]); // sanitised there
  if (!markup) return html`<div key="plain" class=${`md md-plain ${extra}`} ...${rest}>${text}</div>`;
  return html`<div key="marked" class=${`md ${extra}`} ...${rest} dangerouslySetInnerHTML=${markup}></div>`;
}

/** Return the words alone, for a list or to be read aloud: no marks, no signs of Markdown. */
export const plainText = (text) => text.replace(/\s?\[\d{1,3}\]/g, "").replace(/[*_`|]|^[#>\s-]+/gm, "");
