// @ts-check
/** One question with everything that belongs to it. */
import { formatNumber, t } from "../i18n.js";
import { addNote } from "../notes/actions.js";
import { openSource } from "../sources/viewer.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { html, memo, useEffect, useState } from "../vendor.js";
import { Answer, Draft, Remarks } from "./answer.js";
import { copyText } from "./clipboard.js";
import { retry } from "./conversation.js";
import { answerMarkdown, firstLine, place } from "./model.js";
import { openReceipt } from "./receipt.js";

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
    html`<${Action} icon="info" label=${t("answer.receipt")} onClick=${() => openReceipt(conversationId, turn)} />`}
  </div>`;
}

function Action({ icon, label, onClick }) {
  return html`<button type="button" class="action" onClick=${onClick}><${Icon} name=${icon} size="16" /> ${label}</button>`;
}

function copyAnswer(turn) {
  const citations = turn.answer?.citations ?? [];
  copyText(answerMarkdown(turn.text, citations, t("answer.sources_heading")), t("answer.copied"));
}

async function keepAsNote({ question, answer }) {
  const note = await addNote({ title: firstLine(question, 60), text: answer.text, citations: answer.citations, question });
  if (note) toast(t("answer.kept"));
}
