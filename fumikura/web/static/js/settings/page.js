// @ts-check
import "../strings/settings.js";
import { onReconnect } from "../api.js";
import { setTheme, themeStore } from "../header.js";
import { language, setLanguage, t } from "../i18n.js";
import { Bar } from "../sources/row.js";
import { sources } from "../sources/progress.js";
import { remember, remembered, useStore } from "../state.js";
import { Icon } from "../ui/icons.js";
import { toast, toastError } from "../ui/toast.js";
import { html, useEffect, useState } from "../vendor.js";
import { Field } from "./field.js";
import { dropDrafts, loadSettings, reindex, save, settings } from "./model.js";

const REINDEX_POLL_MS = 2000;

/** The settings, in the place of the panels. */
export function SettingsPage() {
  const { shown, health, drafts, errors } = useStore(settings);
  useEffect(() => {
    load();
    return onReconnect(load);
  }, []);
  const groups = Object.entries(Object.groupBy(shown?.fields ?? [], (field) => field.key.split(".")[0]));
  return html`<div class="settings">
    <div class="settings-column">
      <header class="settings-head">
        <h2>${t("settings")}</h2>
        <a class="button" href="#"><${Icon} name="left" />${t("settings.back")}</a>
      </header>
      ${!shown && html`<${Skeletons} />`} ${shown?.needs_reindex && html`<${Reindex} />`}
      ${groups.map(
        ([name, fields]) => html`<section class="settings-group" aria-labelledby=${`group-${name}`}>
          <h3 id=${`group-${name}`}>${t(`settings.group.${name}`)}</h3>
          <p class="hint">${t(`settings.group.${name}.text`)}</p>
          ${fields.map((field) => html`<${Field} key=${field.key} field=${field} drafts=${drafts} error=${errors[field.key]} />`)}
        </section>`,
      )}
      <${Display} /> ${shown && html`<${Server} shown=${shown} health=${health} />`}
      <${SaveBar} />
    </div>
  </div>`;
}

const load = () => loadSettings().catch(toastError);

function Skeletons() {
  return html`<div class="settings-group" role="status" aria-label=${t("loading")}>
    ${[40, 100, 100, 30, 100].map((width) => html`<div class="skeleton" style=${{ width: `${width}%` }}></div>`)}
  </div>`;
}

function SaveBar() {
  const { drafts, errors, isBusy } = useStore(settings);
  const count = Object.keys(drafts).length;
  if (!count && !errors[""]) return null;
  const submit = async () => {
    const effects = await save();
    if (effects.length) toast(t(`settings.saved.${strongest(effects)}`));
    else showRefused(Object.keys(settings.get().errors)[0]);
  };
  return html`<div class="settings-save">
    <p class=${errors[""] ? "field-error" : ""} role=${errors[""] ? "alert" : undefined}>
      ${errors[""] || t("settings.changed", { count })}
    </p>
    <button type="button" class="button" disabled=${isBusy} onClick=${dropDrafts}>${t("settings.drop")}</button>
    <button type="button" class="button primary" disabled=${isBusy} onClick=${submit}>${t("settings.save")}</button>
  </div>`;
}

function showRefused(key) {
  const field = document.getElementById(`setting-${key}`);
  field?.focus({ preventScroll: true });
  field?.closest(".setting")?.scrollIntoView({ block: "nearest" });
}

const strongest = (effects) => ["reindex", "reload", "next_question"].find((effect) => effects.includes(effect));

function Reindex() {
  const job = useStore(sources, (value) => value.jobs.find((one) => one.kind === "reindex" && one.state !== "done"));
  const isRunning = job?.state === "queued" || job?.state === "running";
  const [hasBegun, setBegun] = useState(false);
  useEffect(() => {
    if (!isRunning && !hasBegun) return undefined;
    const timer = setInterval(load, REINDEX_POLL_MS); // until the server says that all is rebuilt
    return () => clearInterval(timer);
  }, [isRunning, hasBegun]);
  const begin = async () => {
    try {
      await reindex();
      setBegun(true);
      toast(t("settings.reindex.begun"));
    } catch (error) {
      toastError(error);
    }
  };
  const counts = { done: job?.done_count ?? 0, total: job?.total_count ?? 0 };
  const words = counts.total ? t("settings.reindex.progress", counts) : t("arrival.wait");
  return html`<div class="notice settings-reindex">
    <div class="settings-reindex-text">
      <p><strong>${t("settings.reindex.title")}</strong></p>
      <p>${t("settings.reindex.text")}</p>
      ${isRunning && html`<p role="status">${words}</p><${Bar} share=${counts.done / (counts.total || 1)} />`}
      ${job?.error && html`<p class="field-error">${job.error.message}</p>`}
    </div>
    ${!isRunning && html`<button type="button" class="button primary" onClick=${begin}>${t("settings.reindex.do")}</button>`}
  </div>`;
}

function Display() {
  const theme = useStore(themeStore, (value) => value.theme);
  const themes = ["auto", "light", "dark"].map((value) => [value, t(`settings.theme.${value}`)]);
  const languages = [
    ["ja", "日本語"],
    ["en", "English"],
  ];
  return html`<section class="settings-group" aria-labelledby="group-display">
    <h3 id="group-display">${t("settings.group.display")}</h3>
    <p class="hint">${t("settings.group.display.text")}</p>
    <${Choice} label=${t("settings.theme")} name="theme" choices=${themes} value=${theme} choose=${setTheme} />
    <${Choice} label=${t("settings.language")} name="language" choices=${languages} value=${language()} choose=${setLanguage} />
  </section>`;
}

function Choice({ label, name, choices, value, choose }) {
  return html`<fieldset class="choice">
    <legend>${label}</legend>
    ${choices.map(
      ([key, text]) => html`<label lang=${name === "language" ? key : undefined}>
        <input type="radio" name=${name} value=${key} checked=${key === value} onChange=${() => choose(key)} />${text}
      </label>`,
    )}
  </fieldset>`;
}

function Server({ shown, health }) {
  const { backend, file } = shown;
  const context = backend.context_tokens === null ? t("settings.context.unknown") : t("settings.tokens", { count: backend.context_tokens });
  const facts = [
    [t("settings.backend"), t(`settings.backend.${backend.kind}`)],
    [t("settings.model"), backend.model],
    [t("settings.context"), context],
    [t("settings.file"), html`<code>${file}</code>`],
    ...PARTS.filter((name) => health?.[name]).map((name) => [t(`settings.part.${name}`), html`<${State} ...${health[name]} />`]),
  ];
  return html`<section class="settings-group" aria-labelledby="group-server">
    <h3 id="group-server">${t("settings.group.server")}</h3>
    <dl class="settings-facts">
      ${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
    </dl>
    ${remembered("signed_in") === "yes" && html`<button type="button" class="button" onClick=${signOut}>${t("settings.sign_out")}</button>`}
  </section>`;
}

const PARTS = ["store", "embedder", "generator", "jobs"];

function State({ ready, detail }) {
  return html`<span class=${ready ? "state-ready" : "danger-text"}>
    <${Icon} name=${ready ? "check" : "warning"} size=${16} />${detail || t(ready ? "settings.ready" : "settings.not_ready")}
  </span>`;
}

async function signOut() {
  await fetch("/api/logout", { method: "POST" });
  remember("signed_in", "no");
  location.assign("/login");
}
