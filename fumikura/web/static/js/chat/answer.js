// @ts-check
/** What a turn shows under its question: a draft while it is written, then the checked answer or what went wrong. */
import { t } from "../i18n.js";
import { renderMarkdown } from "../markdown.js";
import { html, useMemo } from "../vendor.js";
import { Icon } from "../ui/icons.js";
import { sourcesUsed } from "./model.js";
import { MarkedText, UsedSources } from "./quotes.js";

/** Text that nobody has checked: quieter, its numbers are no buttons. */
export function Draft({ text }) {
  const markup = useMemo(() => ({ __html: renderMarkdown(text, { numbers: "all", live: false }) }), [text]);
  return html`<div class="md draft" dangerouslySetInnerHTML=${markup}></div>`;
}

/** The checked answer. */
export function Answer({ answer }) {
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
export function Remarks({ turn }) {
  const notices = turn.answer?.notices ?? turn.notices;
  const ending = endingOf(turn);
  return html`<div class="remarks">
    ${notices.map((notice) => html`<p class="remark"><${Icon} name="info" /> ${notice}</p>`)}
    ${ending && html`<p class=${`remark ending ending-${turn.state}`}><${Icon} name=${iconOf(turn)} /> ${t(ending)}</p>`}
    ${turn.error && html`<p class="turn-error">${turn.error.message}${turn.error.hint && html` <span>${turn.error.hint}</span>`}</p>`}
  </div>`;
}

const iconOf = (turn) => (turn.state === "stopped" ? "stop" : "warning");

function endingOf({ state, answer, text }) {
  if (answer?.finish === "length") return "answer.length";
  if (state === "stopped") return answer ? "answer.stopped_checked" : text ? "answer.stopped" : "answer.stopped_empty";
  if (state === "broken_off") return answer ? "answer.broken_off_checked" : "answer.broken_off";
  return state === "failed" ? "answer.failed" : "";
}
