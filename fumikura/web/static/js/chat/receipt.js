// @ts-check
/** 「この答えができるまで」: the four steps of one answer, with their settings, passages, prompt and times. */
import "../strings/receipt.js";
import { ApiError, get, inNotebook } from "../api.js";
import { formatNumber, t } from "../i18n.js";
import { openDialog } from "../ui/dialog.js";
import { Icon } from "../ui/icons.js";
import { html, useEffect, useState } from "../vendor.js";
import { copyText } from "./clipboard.js";
import { place, seconds } from "./model.js";

/** Open the receipt of a turn. */
export function openReceipt(conversationId, turn) {
  const path = inNotebook(`/conversations/${conversationId}/turns/${turn.turn_id}/receipt`);
  return openDialog({ title: t("receipt.title"), size: "wide", body: () => html`<${Receipt} path=${path} />` });
}

function Receipt({ path }) {
  const [trace, setTrace] = useState(null);
  const [error, setError] = useState("");
  useEffect(() => {
    get(path).then(setTrace, (failure) => {
      if (!(failure instanceof ApiError)) throw failure;
      setError([failure.message, failure.hint].filter(Boolean).join(" "));
    });
  }, [path]);
  if (error) return html`<p class="notice notice-danger" role="alert">${error}</p>`;
  if (!trace) return html`<div class="receipt receipt-loading" role="status" aria-label=${t("receipt.loading")}><div class="skeleton"></div></div>`;
  return html`<div class="receipt">
    <p class="receipt-question">${trace.question}</p>
    ${trace.completed && trace.completed !== trace.question && html`<p class="completed">${t("chat.completed", { question: trace.completed })}</p>`}
    <p class="hint">${t(trace.generate.receipt?.core_tokens ? "receipt.lead_core" : "receipt.lead")}</p>
    <${Times} receipt=${trace.generate.receipt} />
    <${Step} n=${1} name="split" facts=${splitFacts(trace.split)} />
    <${Step} n=${2} name="embed" facts=${embedFacts(trace.embed)} />
    <${Step} n=${3} name="search" facts=${searchFacts(trace.search)}><${FoundPassages} hits=${trace.search.hits} /><//>
    <${Step} n=${4} name="generate" facts=${generateFacts(trace.generate)}><${Generated} generate=${trace.generate} /><//>
  </div>`;
}

function Step({ n, name, facts, children }) {
  return html`<section class="step">
    <h3><span class="step-number" aria-hidden="true">${n}</span> ${t(`receipt.${name}`)} <small>${t(`receipt.${name}_text`)}</small></h3>
    <dl class="facts">
      ${facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([key, value]) => html`<div><dt>${t(`receipt.${key}`)}</dt><dd>${typeof value === "number" ? formatNumber(value) : value}</dd></div>`)}
    </dl>
    ${children}
  </section>`;
}

const splitFacts = (split) => ["method", "size", "overlap", "chunk_count"].map((key) => [key, split[key]]);
const embedFacts = (embed) => [["model", embed.model], ["dimension", embed.dimension]];
const searchFacts = (search) => [["top_k", search.top_k]];
const generateFacts = ({ model, temperature, receipt }) => [
  ["model", model],
  ["temperature", temperature === undefined ? null : String(temperature)],
  ["mode", receipt?.mode && t(`mode.${receipt.mode}`)],
  ["core_tokens", receipt?.core_tokens || null],
  ...["prompt_tokens", "cached_tokens", "new_tokens", "answer_tokens"].map((key) => [key, receipt?.[key]]),
  ["prefix", receipt?.prefix_sha256?.slice(0, 12)],
];

/** The seconds of each step as shares of one bar. */
function Times({ receipt }) {
  if (!receipt?.total_s) return null;
  const steps = ["embed", "search", "ttft", "decode"].map((name) => ({ name, value: receipt[`${name}_s`] ?? 0 }));
  const sum = steps.reduce((total, step) => total + step.value, 0) || 1;
  return html`<section class="times" aria-label=${t("receipt.times")}>
    <div class="times-bar" aria-hidden="true">
      ${steps.map((step) => html`<span class=${`time-${step.name}`} style=${{ flexGrow: step.value / sum }}></span>`)}
    </div>
    <ul>
      ${steps.map((step) => html`<li><span class=${`dot time-${step.name}`} aria-hidden="true"></span>${t(`receipt.time_${step.name}`)} <b>${inSeconds(step.value)}</b></li>`)}
      <li>${t("receipt.time_total")} <b>${inSeconds(receipt.total_s)}</b></li>
    </ul>
  </section>`;
}

const inSeconds = (value) => t("receipt.seconds", { n: seconds(value) });

function FoundPassages({ hits }) {
  if (!hits.length) return html`<p class="hint">${t("receipt.no_hits")}</p>`;
  const heads = ["rank", "passage", "score", "dense", "lexical", "used"];
  return html`<div class="md-table" role="group" tabindex="0" aria-label=${t("receipt.hits")}>
    <table class="receipt-hits">
      <thead>
        <tr>${heads.map((head) => html`<th scope="col">${t(`receipt.${head}`)}</th>`)}</tr>
      </thead>
      <tbody>
        ${hits.map((hit) => html`<${FoundPassage} hit=${hit} />`)}
      </tbody>
    </table>
  </div>`;
}

function FoundPassage({ hit }) {
  const used = t(hit.used ? "receipt.used_yes" : "receipt.used_no");
  return html`<tr class=${hit.used ? "" : "unused"}>
    <td class="number">${hit.rank}</td>
    <td><details><summary>${place(hit)}</summary><pre class="passage-text">${hit.text}</pre></details></td>
    <td class="number">${hit.score?.toFixed(3)}</td>
    <td class="number">${hit.dense_score?.toFixed(3) ?? "–"}</td>
    <td class="number">${hit.lexical_rank ?? "–"}</td>
    <td>${hit.used ? html`<span class="used-yes"><${Icon} name="check" size="16" /></span>` : "–"}<span class="visually-hidden">${used}</span></td>
  </tr>`;
}

function Generated({ generate }) {
  const { messages = [], raw_text = "", unsupported = [] } = generate;
  const prompt = messages.map((message) => `[${message.role}]\n${message.content}`).join("\n\n");
  return html`<div class="generated">
    ${messages.length === 0 ? html`<p class="hint">${t("receipt.not_asked")}</p>` : html`<${Prompt} messages=${messages} prompt=${prompt} />`}
    ${raw_text && html`<details><summary>${t("receipt.raw")}</summary><pre tabindex="0">${raw_text}</pre></details>`}
    ${unsupported.length > 0 &&
    html`<details>
      <summary>${t("receipt.removed")} (${unsupported.length})</summary>
      <ul>${unsupported.map((sentence) => html`<li>${sentence}</li>`)}</ul>
    </details>`}
  </div>`;
}

function Prompt({ messages, prompt }) {
  return html`<details>
    <summary>${t("receipt.prompt", { n: messages.length })}</summary>
    <button type="button" class="button small" onClick=${() => copyText(prompt, t("receipt.prompt_copied"))}>
      <${Icon} name="copy" size="16" /> ${t("receipt.copy_prompt")}
    </button>
    ${messages.map((message) => html`<div class="message"><h4>${t(`receipt.role_${message.role}`)}</h4><pre tabindex="0">${message.content}</pre></div>`)}
  </details>`;
}
