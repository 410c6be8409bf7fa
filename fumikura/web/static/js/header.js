// @ts-check
import { language, setLanguage, t } from "./i18n.js";
import { fetchedWithStyle } from "./later.js";
import { loadNotebooks, notebookName, openNotebook } from "./notebooks.js";
import { app, createStore, remember, remembered, useStore } from "./state.js";
import { Icon, IconButton } from "./ui/icons.js";
import { Menu } from "./ui/menu.js";
import { html } from "./vendor.js";

/** "auto" (as the system), "light" or "dark". */
export const themeStore = createStore({ theme: remembered("theme") ?? "auto" });

/** Choose the theme; theme.js sets it before the first paint of the next visit. */
export function setTheme(theme) {
  remember("theme", theme);
  document.documentElement.dataset.theme = theme;
  themeStore.set({ theme });
}

const systemIsDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** The page's head: name, notebooks, language, theme, settings. */
export function Header({ inSettings }) {
  const theme = useStore(themeStore, (value) => value.theme);
  const isDark = theme === "dark" || (theme === "auto" && systemIsDark());
  const other = language() === "ja" ? "en" : "ja";
  return html`<header class="top">
    <a class="brand" href="#" aria-label=${t("home")}>
      <h1><span class="brand-ja">文庫</span><span class="brand-en">Fumikura</span></h1>
    </a>
    <${NotebookMenu} />
    <span class="top-space"></span>
    <div class="top-tools">
      <button type="button" class="language-button" lang=${other} aria-label=${t("language.switch")} onClick=${() => setLanguage(other)}>
        ${other === "en" ? "EN" : "日本語"}
      </button>
      <${IconButton}
        icon=${isDark ? "sun" : "moon"}
        label=${t(isDark ? "theme.to_light" : "theme.to_dark")}
        onClick=${() => setTheme(isDark ? "light" : "dark")}
      />
      <a
        class="icon-button"
        href=${inSettings ? "#" : "#settings"}
        aria-label=${t(inSettings ? "settings.leave" : "settings")}
        title=${t(inSettings ? "settings.leave" : "settings")}
      >
        <${Icon} name=${inSettings ? "close" : "sliders"} />
      </a>
    </div>
  </header>`;
}

function NotebookMenu() {
  const notebook = useStore(app, (value) => value.notebook);
  const notebooks = useStore(app, (value) => value.notebooks);
  if (!notebook) return html`<div class="skeleton notebook-skeleton" aria-hidden="true"></div>`;
  const name = notebookName(notebook);
  const choices = notebooks.map((one) => ({
    label: notebookName(one),
    note: String(one.source_count),
    checked: one.id === notebook.id,
    onSelect: () => (openNotebook(one), loadNotebooks()),
  }));
  const entries = [
    ...choices,
    "line",
    { label: t("notebook.new"), icon: "add", onSelect: () => inDialog("newNotebook") },
    { label: t("notebook.rename"), icon: "edit", onSelect: () => inDialog("renameNotebook") },
    { label: t("notebook.delete"), icon: "trash", onSelect: () => inDialog("deleteNotebook"), danger: true },
  ];
  return html`<${Menu} class="notebook-button" label=${t("notebook.choose", { name })} entries=${entries} align="start">
    <${Icon} name="book" /><span>${name}</span><${Icon} name="chevron" size=${14} />
  <//>`;
}

async function inDialog(name) {
  const dialogs = await fetchedWithStyle(() => import("./notebook_dialogs.js"));
  dialogs?.[name]();
}
