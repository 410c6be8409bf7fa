// @ts-check
/** One question with everything that belongs to it. */
import { formatNumber, t } from "../i18n.js";
import { fetched, fetchedWithStyle } from "../later.js";
import { Marked } from "../marked.js";
import { addNote } from "../notes/actions.js";
import { openSource } from "../sources/open.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { html, memo, useEffect, useState } from "../vendor.js";
import { retry } from "./conversation.js";
import { answerMarkdown, firstLine, place, sourcesUsed } from "./model.js";
import { MarkedText, UsedSources } from "./quotes.js";

/** Renders again only when its own turn or the conversation changes: 500 others stand still. */
export const Turn = memo(function Turn({ turn, conversationId }) {
  const running = turn.state === "running";
  const state = `turn turn-${turn.state} ${turn.fresh ? "turn-fresh" : ""}`;
  return html`<li class=${state} aria-busy=${running ? "true" : undefined} data-turn=${turn.key}>
    <h3 class="question"><span class="visually-hidden">${t("chat.question_by")}</span>${turn.question}</h3>
    ${turn.completed !== turn.question && html`<p class="completed">${t("chat.completed", { question: turn.completed })}</p>`}
    ${turn.hits && html`<${Hits} hits=${turn.hits} />`}
    ${turn.answer ? html`<${Answer} answer=${turn.answer} />` : turn.text && html`<${Draft} text=${turn.text} />`}
    ${!running && html`<${Remarks} turn=${turn} />`}
    ${running ? html`<${Stage} turn=${turn} />` : html`<${Actions} turn=${turn} conversationId=${conversationId} />`}
  </li>`;
});

/** The passages found, at once and before the answer. */
function Hits({ hits }) {
  if (!hits.length) return html`<p class="hits-none">${t("hits.none")}</p>`;
  const names = [...new Set(hits.map((hit) => hit.source))].join(" · ");
  return html`<details class="hits">
    <summary>
      <${Icon} name="book" size="16" /> <span>${t("hits.title")}</span> <span class="count">${formatNumber(hits.length)}</span>
      <span class="hits-names">${names}</span>
    </summary>
    <ol>
      ${hits.map((hit) => html`<li key=${hit.rank}><${Passage} hit=${hit} /></li>`)}
    </ol>
  </details>`;
}

function Passage({ hit }) {
  const { source_id, source, start, end, text } = hit;
  const open = () => openSource({ source_id, source, start, end, quotes: [{ start, end, quote: text }] });
  return html`<button type="button" class="passage" aria-label=${t("hits.open", { place: place(hit) })} onClick=${open}>
    <span class="passage-place">${place(hit)}</span>
    <span class="passage-line">${firstLine(text)}</span>
  </button>`;
}

const UNCHECKED = { numbers: "all", live: false };

/** Text that nobody has checked: quieter, its numbers are no buttons. */
const Draft = ({ text }) => html`<${Marked} text=${text} options=${UNCHECKED} class="draft" />`;

/** The checked answer. */
function Answer({ answer }) {
  if (answer.status === "not_in_sources") return html`<${Refusal} answer=${answer} />`;
  const used = sourcesUsed(answer.citations);
  return html`<div class="answer">
    <${MarkedText} text=${answer.text} citations=${answer.citations} />
    ${answer.status === "partly" && html`<p class="remark partly"><${Icon} name="info" /> ${t("answer.partly")}</p>`}
    <${Unsupported} sentences=${answer.unsupported} />
    ${used.length > 0 &&
    html`<section class="used-block">
      <h4>${t("answer.sources")}</h4>
      <${UsedSources} used=${used} label=${t("answer.sources")} />
    </section>`}
  </div>`;
}

/** 「資料にありません。」: an answer too, but it must not look like one that was found. */
function Refusal({ answer }) {
  const why = answer.coverage === "read_in_full" ? "answer.refused_full" : "answer.refused_searched";
  return html`<div class="refusal">
    <${MarkedText} text=${answer.text} citations=${[]} />
    <p class="refusal-why">${t(why)}</p>
    <${Unsupported} sentences=${answer.unsupported} />
  </div>`;
}

function Unsupported({ sentences = [] }) {
  if (!sentences.length) return null;
  return html`<details class="unsupported">
    <summary>${t("answer.unsupported", { n: sentences.length })}</summary>
    <ul>
      ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
    </ul>
  </details>`;
}

/** How the answer ended when it did not end well, and what else the server had to say. */
function Remarks({ turn }) {
  const notices = turn.answer?.notices ?? turn.notices;
  const ending = endingOf(turn);
  return html`<div class="remarks">
    ${notices.map((notice) => html`<p class="remark"><${Icon} name="info" /> ${notice}</p>`)}
    ${ending && html`<p class=${`remark ending ending-${turn.state}`}><${Icon} name=${iconOf(turn)} /> ${t(ending)}</p>`}
    ${turn.error && html`<p class="turn-error">${turn.error.message}${turn.error.hint && html` <span>${turn.error.hint}</span>`}</p>`}
  </div>`;
}

const iconOf = (turn) => (turn.state === "stopped" ? "stop" : "warning");

// How a checked answer ended is among its notices.
function endingOf({ state, answer, text }) {
  if (answer) return "";
  if (state === "stopped") return text ? "answer.stopped" : "answer.stopped_empty";
  if (state === "broken_off") return "answer.broken_off";
  return state === "failed" ? "answer.failed" : "";
}

/** What is going on, in words; the seconds after three of them. It stands where the buttons will be. */
function Stage({ turn }) {
  const key = turn.stage === "waiting" && turn.position > 0 ? "stage.waiting_n" : `stage.${turn.stage}`;
  return html`<p class="turn-foot stage">
    <span class="pulse" aria-hidden="true"></span>
    <span>${t(key, { n: turn.position })}</span>
    ${turn.staged_at > 0 && html`<${Elapsed} since=${turn.staged_at} />`}
    ${turn.text && html`<span class="stage-draft">${t("answer.draft")}</span>`}
  </p>`;
}

function Elapsed({ since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(clock);
  }, []);
  const passed = Math.floor((now - since) / 1000);
  return passed >= 3 && html`<span class="elapsed">${t("stage.elapsed", { n: passed })}</span>`;
}

function Actions({ turn, conversationId }) {
  const found = turn.answer && turn.answer.status !== "not_in_sources";
  return html`<div class="turn-foot actions" role="group" aria-label=${t("answer.actions")}>
    ${turn.text && html`<${Action} icon="copy" label=${t("answer.copy")} onClick=${() => copyAnswer(turn)} />`}
    ${found && html`<${Action} icon="note" label=${t("answer.keep")} onClick=${() => keepAsNote(turn)} />`}
    <${Action} icon="retry" label=${t("answer.retry")} onClick=${() => retry(turn)} />
    ${turn.answer &&
    html`<${Action} icon="info" label=${t("answer.receipt")} onClick=${() => openReceipt(conversationId, turn)} />
      <${ReadHow} answer=${turn.answer} />`}
  </div>`;
}

/** Quietly: whether the whole texts were read, or only what was found. */
function ReadHow({ answer }) {
  const how = answer.coverage === "read_in_full" ? "read_in_full" : answer.receipt?.mode === "hybrid" ? "hybrid" : "searched";
  return html`<span class="read-how" title=${t(`answer.${how}.tip`)}>${t(`answer.${how}`)}</span>`;
}

function Action({ icon, label, onClick }) {
  return html`<button type="button" class="action" onClick=${onClick}><${Icon} name=${icon} size="16" /> ${label}</button>`;
}

async function openReceipt(conversationId, turn) {
  const receipt = await fetchedWithStyle(() => import("./receipt.js"));
  receipt?.openReceipt(conversationId, turn);
}

async function copyAnswer(turn) {
  const citations = turn.answer?.citations ?? [];
  const clipboard = await fetched(() => import("./clipboard.js"));
  clipboard?.copyText(answerMarkdown(turn.text, citations, t("answer.sources_heading")), t("answer.copied"));
}

async function keepAsNote({ question, answer }) {
  const note = await addNote({ title: firstLine(question, 60), text: answer.text, citations: answer.citations, question });
  if (note) toast(t("answer.kept"));
}
