// @ts-check
import { t } from "../i18n.js";
import { fetchedWithStyle } from "../later.js";
import { useStore } from "../state.js";
import { html } from "../vendor.js";
import { sources } from "./progress.js";
import { Bar } from "./row.js";

/** One line: how the sources are read now, how full the core is, how far it is computed. Opens the dialog. */
export function GaugeLine() {
  const gauge = useStore(sources, (value) => value.gauge);
  const core = useStore(sources, (value) => value.core);
  if (!gauge) return null;
  const { room_tokens: room, used_tokens: used } = gauge;
  const notice = gauge.notice ?? (core?.stage === "failed" ? core.notice : null);
  return html`<button type="button" class="gauge" title=${notice ?? t("gauge.open")} onClick=${openCore}>
    <span class="gauge-words">
      <span class=${notice ? "danger-text" : ""}>${notice ?? readNow(gauge)}</span>
      ${used > 0 && html`<small>${progressOf(core)}</small>`}
    </span>
    <${Bar} share=${room ? used / room : 0} />
  </button>`;
}

/** How a question is answered now, in words; `gauge` as of GET /core. */
export function readNow({ mode, coverage, used_tokens: used, sources: shares }) {
  if (!used) return t("gauge.rag");
  const kind = coverage === "read_in_full" ? `${mode}_all` : mode;
  return t(`gauge.${kind}`, { n: shares.filter((one) => one.resident).length });
}

/** How far the core is computed, in words. */
export function progressOf({ stage, done_tokens: done, total_tokens: total }) {
  return stage === "none" ? "" : t(stage === "computing" && total ? "core.computing_n" : `core.${stage}`, { done, total });
}

async function openCore() {
  const dialog = await fetchedWithStyle(() => import("./core_dialog.js"));
  dialog?.openCore();
}
