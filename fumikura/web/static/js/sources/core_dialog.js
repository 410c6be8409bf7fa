// @ts-check
/** How this notebook's sources are read: the room and each source's share, the mode, and what the last answers reused. */
import "../strings/core.js";
import { ApiError, inNotebook, patch } from "../api.js";
import { MODES } from "../chat/composer.js";
import { seconds } from "../chat/model.js";
import { formatNumber, formatTime, t } from "../i18n.js";
import { changeNotebook } from "../notebook_dialogs.js";
import { app, useStore } from "../state.js";
import { openDialog } from "../ui/dialog.js";
import { IconButton } from "../ui/icons.js";
import { html, useEffect, useRef, useState } from "../vendor.js";
import { progressOf, readNow } from "./gauge.js";
import { changeInList, look, readGauge, sources } from "./progress.js";
import { Bar, NameParts } from "./row.js";

/** Open the dialog for the open notebook. */
export function openCore() {
  return openDialog({ title: t("core.title"), size: "wide", body: () => html`<${CoreDialog} />` });
}

function CoreDialog() {
  const gauge = useStore(sources, (value) => value.gauge);
  const [error, setError] = useState("");
  // A refusal is said here: the page's own messages lie behind the dialog.
  const attempt = async (request) => {
    setError("");
    try {
      await request();
      await readGauge();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError([failure.message, failure.hint].filter(Boolean).join(" "));
    }
    look();
  };
  useEffect(() => void attempt(async () => {}), []); // the last answers may be newer than the line
  return html`<div class="core">
    <${Room} gauge=${gauge} />
    ${error && html`<p class="notice notice-danger" role="alert">${error}</p>`}
    <${Modes} attempt=${attempt} />
    <${Shares} gauge=${gauge} attempt=${attempt} />
    <${Reuse} answers=${gauge.answers} />
  </div>`;
}

/** The sizes in tokens; about, where the model has not counted them. */
function Room({ gauge }) {
  const core = useStore(sources, (value) => value.core);
  const { notice, exact, room_tokens: room, used_tokens: used } = gauge;
  const counts = ["used", "free", "room", "window"].filter((name) => gauge[`${name}_tokens`] !== undefined);
  return html`<section>
    <p><strong>${used || !notice ? readNow(gauge) : ""}</strong> ${used > 0 && html`<span class="muted" role="status">${progressOf(core)}</span>`}</p>
    ${[notice, core?.notice].map((text) => text && html`<p class="notice">${text}</p>`)}
    <${Bar} share=${room ? used / room : 0} />
    <dl class="facts">
      ${counts.map((name) => html`<div><dt>${t(`core.${name}`)}</dt><dd>${tokens(gauge[`${name}_tokens`], exact)}</dd></div>`)}
    </dl>
  </section>`;
}

const tokens = (count, exact) => t(exact ? "core.tokens" : "core.tokens_about", { count });

function Modes({ attempt }) {
  const [chosen, setChosen] = useState(""); // shown while it is saved; a refused choice goes back
  const kept = useStore(app, ({ notebook }) => notebook?.mode ?? "auto");
  const mode = chosen || kept;
  const field = useRef(/** @type {any} */ (null));
  useEffect(() => void (field.current.querySelector(`[value=${mode}]`).checked = true));
  const choose = async (wanted) => {
    setChosen(wanted);
    await attempt(() => changeNotebook({ mode: wanted }));
    setChosen((now) => (now === wanted ? "" : now));
  };
  return html`<fieldset ref=${field} class="core-modes">
    <legend>${t("core.mode")}</legend>
    ${MODES.map(
      (one) => html`<label>
        <input type="radio" name="mode" value=${one} checked=${one === mode} onChange=${() => choose(one)} />
        <span>${t(`mode.${one}`)} <small>${t(`core.mode.${one}`)}</small></span>
      </label>`,
    )}
  </fieldset>`;
}

function Shares({ gauge, attempt }) {
  if (!gauge.sources.length) return null;
  const pin = (share) =>
    attempt(async () => {
      const path = inNotebook(`/sources/${share.source_id}`);
      changeInList(share.source_id, await patch(path, { pinned: !share.pinned }));
    });
  return html`<section>
    <h3>${t("core.sources")}</h3>
    <ul class="core-shares" role="list">
      ${gauge.sources.map(
        (one) => html`<li key=${one.source_id}>
          <span class="arrival-name" title=${one.source}><${NameParts} name=${one.source} /></span>
          <small class="muted">${shareText(one, gauge)}</small>
          <${IconButton}
            icon="pin"
            size=${16}
            class=${one.pinned ? "pinned pin" : ""}
            aria-pressed=${String(one.pinned)}
            label=${t("source.pin", { name: one.source })}
            onClick=${() => pin(one)}
          />
          <${Bar} share=${Math.min(1, one.token_count / Math.max(gauge.room_tokens, 1))} />
        </li>`,
      )}
    </ul>
  </section>`;
}

function shareText({ token_count: count, resident }, { free_tokens: free }) {
  const fit = resident ? "core.resident" : count > free ? "core.too_large" : "core.searched";
  return `${tokens(count, false)} · ${t(fit)}`;
}

function Reuse({ answers }) {
  return html`<section>
    <h3>${t("core.reuse")}</h3>
    ${answers.length ? html`<ul class="core-answers" role="list">${answers.map(reused)}</ul>` : html`<p class="hint">${t("core.reuse.none")}</p>`}
  </section>`;
}

function reused({ turn_id, asked_at, share, cached_tokens: cached, prompt_tokens: read, ttft_s, broken_by }) {
  const part = share === null ? t("core.reuse.unknown") : t("core.reuse.share", { percent: formatNumber(Math.round(share * 100)) });
  const facts = [formatTime(asked_at), part, t("core.reuse.first", { n: seconds(ttft_s) })];
  return html`<li key=${turn_id} title=${cached !== null && `${formatNumber(cached)} / ${formatNumber(read)}`}>
    ${facts.join(" · ")}${broken_by && html` <small class="muted">${broken_by}</small>`}
  </li>`;
}
