// @ts-check
// The page: header, banner, three panels or the settings. A panel gets the open notebook as a prop and is made anew
// when another notebook or language is chosen; it draws into its <section>, beginning with a .panel-head.
// What is imported here is the frame with the field for a question: shown first, in few files (panels.js has the rest).
import "./strings/common.js";
import { onReconnect } from "./api.js";
import { QuestionField } from "./chat/composer.js";
import { Header } from "./header.js";
import { languageStore, t } from "./i18n.js";
import { fetched, fetchedWithStyle } from "./later.js";
import { loadNotebooks, notebookName } from "./notebooks.js";
import { DropVeil } from "./sources/drop.js";
import { app, remember, remembered, useStore } from "./state.js";
import { Icon, IconButton } from "./ui/icons.js";
import { Toaster } from "./ui/toast.js";
import { html, render, useEffect, useState } from "./vendor.js";

function Root() {
  const chosen = useStore(languageStore, (value) => value.language);
  const inSettings = useHash() === "#settings";
  const notebook = useStore(app, (value) => value.notebook);
  useEffect(() => {
    document.documentElement.lang = chosen;
    document.title = [inSettings ? t("settings") : notebook && notebookName(notebook), t("title")].filter(Boolean).join(" – ");
  }, [chosen, inSettings, notebook]);
  useEffect(() => void loadPanels(), []);
  // The panels stay alive behind the settings: an answer goes on while someone looks there.
  return html`<div key=${chosen} class="page">
    <a class="skip-link" href="#main" onClick=${skipToMain}>${t("skip")}</a>
    <${Header} inSettings=${inSettings} />
    <${Banner} />
    <main id="main" tabindex="-1">
      ${inSettings && html`<${Settings} />`}
      <div hidden=${inSettings} class="panels-frame"><${Panels} notebook=${notebook} /></div>
    </main>
    ${!inSettings && html`<${Tabs} />`}
    <${DropVeil} />
    <${Toaster} />
  </div>`;
}

// An effect, so that the first paint does not wait for it.
async function loadPanels() {
  const panels = await fetched(() => import("./panels.js"));
  if (panels) app.set({ panels });
}

// Fetched when it is first opened: most visits never need it.
function Settings() {
  const [Page, setPage] = useState(/** @type {any} */ (null));
  useEffect(() => {
    fetchedWithStyle(() => import("./settings/page.js")).then((settings) => settings && setPage(() => settings.SettingsPage));
  }, []);
  return Page && html`<${Page} />`;
}

function useHash() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return hash;
}

function skipToMain(event) {
  event.preventDefault(); // the hash chooses the view
  document.getElementById("main")?.focus();
}

function Banner() {
  const online = useStore(app, (value) => value.online);
  return html`<div role="status">
    ${!online && html`<p class="banner"><${Icon} name="warning" />${t("offline")}</p>`}
  </div>`;
}

function Panels({ notebook }) {
  const tab = useStore(app, (value) => value.tab);
  const panels = useStore(app, (value) => value.panels);
  const [left, foldLeft] = useFold("left");
  const [right, foldRight] = useFold("right");
  const key = notebook?.id ?? "loading";
  return html`<div class="panels" data-tab=${tab} data-left=${left} data-right=${right}>
    <${Panel} name="sources" icon="book" state=${left} fold=${foldLeft} foldIcon="left">
      ${panels ? html`<${panels.SourcesPanel} key=${key} />` : html`<${Waiting} title=${t("panel.sources")} />`}
    <//>
    <section class="panel panel-chat" aria-label=${t("panel.chat")}>
      ${panels && notebook ? html`<${panels.ChatPanel} key=${key} />` : html`<${ChatWaiting} />`}
      <${QuestionField} panels=${panels} />
    </section>
    <${Panel} name="notes" icon="note" state=${right} fold=${foldRight} foldIcon="right">
      ${panels && notebook ? html`<${panels.NotesPanel} key=${key} />` : html`<${Waiting} title=${t("panel.notes")} />`}
    <//>
  </div>`;
}

function Waiting({ title }) {
  return html`<header class="panel-head"><h2>${title}</h2></header>
    <div class="panel-waiting" role="status" aria-label=${t("loading")}>
      <div class="skeleton"></div>
      <div class="skeleton"></div>
    </div>`;
}

/** The chat before its conversation is there. */
function ChatWaiting() {
  return html`<header class="panel-head"></header>
    <div class="chat-body">
      <div class="chat-waiting" role="status" aria-label=${t("loading")}>
        <div class="skeleton"></div>
        <div class="skeleton"></div>
        <div class="skeleton"></div>
      </div>
    </div>`;
}

function useFold(side) {
  const [state, setState] = useState(remembered(`panel.${side}`) === "closed" ? "closed" : "open");
  const fold = () => {
    const next = state === "open" ? "closed" : "open";
    remember(`panel.${side}`, next);
    setState(next);
  };
  return [state, fold];
}

// On narrow screens CSS shows the content even of a folded panel: tabs choose there.
function Panel({ name, icon, state, fold, foldIcon, children }) {
  const title = t(`panel.${name}`);
  const isOpen = state === "open";
  return html`<section class=${`panel panel-${name} panel-foldable panel-${state}`} aria-label=${title}>
    <div class="panel-content">${children}</div>
    ${isOpen
      ? html`<${IconButton} class="panel-fold" icon=${foldIcon} label=${t("panel.fold", { title })} onClick=${fold} />`
      : html`<button type="button" class="panel-unfold" aria-label=${t("panel.unfold", { title })} onClick=${fold}>
          <${Icon} name=${icon} /><span>${title}</span>
        </button>`}
  </section>`;
}

function Tabs() {
  const tab = useStore(app, (value) => value.tab);
  const icons = { sources: "book", chat: "chat", notes: "note" };
  return html`<nav class="tabs" aria-label=${t("panels")}>
    ${Object.entries(icons).map(
      ([name, icon]) =>
        html`<button type="button" aria-current=${tab === name ? "true" : undefined} onClick=${() => app.set({ tab: name })}>
          <${Icon} name=${icon} size=${20} />${t(`panel.${name}`)}
        </button>`,
    )}
  </nav>`;
}

render(html`<${Root} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
loadNotebooks();
onReconnect(loadNotebooks);
languageStore.subscribe(loadNotebooks);
