// @ts-check
import "../strings/viewer.js";
import { inNotebook } from "../api.js";
import { languageStore, t } from "../i18n.js";
import { app, createStore, useStore } from "../state.js";
import { Icon, IconButton } from "../ui/icons.js";
import { toastError } from "../ui/toast.js";
import { html, render, useEffect, useRef, useState } from "../vendor.js";
import { Facts } from "./facts.js";
import { readSource, readWindow, windowAround } from "./reading.js";
import { SourceText } from "./source_text.js";

/** What the viewer shows: the request, and what has been read for it. */
const viewer = createStore({ request: /** @type {any} */ (null), reading: /** @type {any} */ (null) });

let opener = /** @type {HTMLElement | null} */ (null);

/**
 * Open a source beside the chat (over it on narrow screens) with its quotes marked and in view.
 * quotes: [{start, end, quote}] in code points; `source` is the name to show while it loads or when it was removed.
 */
export async function openSource(wanted) {
  const request = { ...wanted, notebook: app.get().notebook?.id };
  if (!viewer.get().request) opener = /** @type {HTMLElement | null} */ (document.activeElement);
  viewer.set({ request, reading: null });
  mount();
  try {
    const reading = await readSource(request);
    if (!reading.removed) reading.part = await readWindow(request.source_id, windowAround(firstPlace(reading.quotes)));
    if (viewer.get().request === request) viewer.set({ reading });
  } catch (error) {
    if (viewer.get().request === request) closeViewer();
    toastError(error);
  }
}

const isShown = (quote) => quote.state !== "changed";
const firstPlace = (quotes) => Math.min(...quotes.filter(isShown).map((quote) => quote.start), Infinity) % Infinity || 0;

/** Close it; the focus goes back to what opened it. */
export function closeViewer() {
  viewer.set({ request: null, reading: null });
  document.querySelector("dialog.viewer")?.remove();
  delete document.documentElement.dataset.viewer;
  if (opener?.isConnected) opener.focus();
}

// With room it is no modal: the chat beside it stays in use.
function mount() {
  if (document.querySelector("dialog.viewer")) return;
  const dialog = document.createElement("dialog");
  dialog.className = "viewer";
  document.body.append(dialog);
  dialog.addEventListener("cancel", (event) => (event.preventDefault(), closeViewer()));
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && (event.preventDefault(), closeViewer()));
  dialog.addEventListener("click", (event) => event.target === dialog && closeViewer());
  render(html`<${Viewer} />`, dialog);
  document.documentElement.dataset.viewer = "open";
  if (matchMedia("(min-width: 1100px)").matches) dialog.show();
  else dialog.showModal();
}

addEventListener("hashchange", () => viewer.get().request && closeViewer()); // the settings were opened

app.subscribe(({ notebook }) => {
  const { request } = viewer.get();
  if (request && request.notebook !== notebook?.id) closeViewer();
});

function Viewer() {
  const { request, reading } = useStore(viewer);
  useStore(languageStore);
  if (!request) return null;
  const name = reading?.source?.name ?? request.source ?? "";
  return html`<article class="viewer-frame" aria-labelledby="viewer-title">
    <header class="viewer-head">
      <h2 id="viewer-title" title=${name}>${name}</h2>
      ${reading?.source?.has_original &&
      html`<a class="icon-button" href=${inNotebook(`/sources/${request.source_id}/original`)} aria-label=${t("source.download")} title=${t("source.download")}>
        <${Icon} name="download" />
      </a>`}
      <${IconButton} icon="close" label=${t("close")} onClick=${closeViewer} />
    </header>
    ${!reading && html`<${Loading} />`} ${reading?.removed && html`<${Removed} name=${name} quotes=${reading.quotes} />`}
    ${reading?.source && html`<${Open} key=${request} ...${reading} />`}
  </article>`;
}

function Loading() {
  return html`<div class="viewer-loading" role="status" aria-label=${t("loading")}>
    ${[60, 100, 96, 88, 100, 70].map((width) => html`<div class="skeleton" style=${{ width: `${width}%` }}></div>`)}
  </div>`;
}

function Removed({ name, quotes }) {
  const kept = quotes.filter((one) => one.quote);
  return html`<div class="viewer-removed">
    <p class="notice notice-danger" role="alert">${t("viewer.removed", { name })}</p>
    ${kept.length > 0 && html`<p class="hint">${t("viewer.removed.text")}</p>`}
    ${kept.map((one) => html`<blockquote class="viewer-quote">${one.quote}</blockquote>`)}
  </div>`;
}

function Open({ source, quotes, part: firstPart }) {
  const [part, setPart] = useState(firstPart);
  const [target, setTarget] = useState(/** @type {any} */ (null)); // code point offset to bring into view
  const [isRendered, setRendered] = useState(false);
  const shown = quotes.filter(isShown);
  const turnTo = async (start, offset = start) => {
    try {
      if (start !== part.start) setPart(await readWindow(source.source_id, start));
      setTarget({ offset });
    } catch (error) {
      toastError(error);
    }
  };
  const goTo = (offset) => {
    setRendered(false);
    return turnTo(offset >= part.start && offset < part.end ? part.start : windowAround(offset), offset);
  };
  return html`<${Facts} source=${source} quotes=${quotes} />
    <${Bar} ...${{ source, shown, isRendered, setRendered, goTo }} />
    <${SourceText} ...${{ source, part, shown, target, isRendered, turnTo }} />`;
}

function Bar({ source, shown, isRendered, setRendered, goTo }) {
  const next = useRef(0);
  const [isOutlined, setOutlined] = useState(false);
  const outline = source.outline.filter((one) => one.heading);
  const toNext = () => {
    next.current = (next.current + 1) % shown.length;
    goTo(shown[next.current].start);
  };
  const views = [
    [false, t("viewer.as.text")],
    [true, t("viewer.as.rendered")],
  ];
  return html`<div class="viewer-bar">
      ${outline.length > 0 &&
      html`<button type="button" class="button small" aria-expanded=${String(isOutlined)} onClick=${() => setOutlined(!isOutlined)}>
        ${t("viewer.outline")} <span class="muted">${outline.length}</span>
      </button>`}
      ${shown.length > 1 && html`<button type="button" class="button small" onClick=${toNext}>${t("viewer.quote_next")}</button>`}
      ${source.kind === "markdown" &&
      html`<div class="switch" role="group" aria-label=${t("viewer.as")}>
        ${views.map(
          ([value, label]) =>
            html`<button type="button" aria-pressed=${String(value === isRendered)} onClick=${() => setRendered(value)}>${label}</button>`,
        )}
      </div>`}
    </div>
    ${isOutlined && html`<${Outline} outline=${outline} goTo=${goTo} />`}`;
}

function Outline({ outline, goTo }) {
  const ref = useRef(null);
  useEffect(() => ref.current.querySelector("button")?.focus(), []);
  return html`<nav ref=${ref} class="viewer-outline" aria-label=${t("viewer.outline")}>
    <ul role="list">
      ${outline.map(
        ({ heading, level, start, page }) => html`<li class=${`outline-${Math.min(level || 1, 4)}`}>
          <button type="button" onClick=${() => goTo(start)}>
            <span>${heading}</span>
            ${page !== null && page !== undefined && html`<span class="muted">${t("viewer.page", { page })}</span>`}
          </button>
        </li>`,
      )}
    </ul>
  </nav>`;
}
