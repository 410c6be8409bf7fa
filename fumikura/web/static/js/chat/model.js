// @ts-check
/** A conversation's turns as plain values: no page, no network. Every function returns a new turn. */

/**
 * @typedef {"running" | "complete" | "stopped" | "broken_off" | "failed"} TurnState
 * @typedef {{code: string, message: string, hint?: string}} TurnError
 * @typedef {{key: string, turn_id: string | null, question: string, mode: string, completed: string, state: TurnState,
 *   stage: string, position: number, asked_at: number, staged_at: number, hits: any[] | null, text: string,
 *   answer: any | null, error: TurnError | null, notices: string[], fresh: boolean}} Turn
 */

let counter = 0;

/** @returns {Turn} a question just sent, to be answered in `mode`; `now` in milliseconds. */
export function askedTurn(question, now, mode = "auto") {
  counter += 1;
  return {
    key: `new-${counter}`, turn_id: null, question, mode, completed: question, state: "running", stage: "searching",
    position: 0, asked_at: now, staged_at: now, hits: null, text: "", answer: null, error: null, notices: [], fresh: true,
  };
}

/** @returns {Turn} a turn as the server keeps it. */
export function keptTurn(kept) {
  return {
    key: kept.turn_id, turn_id: kept.turn_id, question: kept.question, mode: "auto", completed: kept.completed || kept.question,
    state: kept.state, stage: "elsewhere", position: 0, asked_at: Date.parse(kept.asked_at), staged_at: 0, hits: null,
    text: kept.answer?.text ?? kept.text ?? "", answer: kept.answer, error: kept.error, notices: [], fresh: false,
  };
}

const EVENTS = {
  stage: (turn, event, now) =>
    turn.stage === event.stage
      ? { ...turn, position: event.position ?? 0 }
      : { ...turn, stage: event.stage, position: event.position ?? 0, staged_at: now },
  hits: (turn, event) => ({
    ...turn, turn_id: event.turn_id ?? turn.turn_id, completed: event.completed || turn.question, hits: event.hits,
    notices: event.notices ?? [],
  }),
  token: (turn, event) => ({ ...turn, text: turn.text + event.text }),
  answer: (turn, event) => ({
    ...turn, turn_id: event.turn_id ?? turn.turn_id, answer: event, state: stateOf(event.finish), text: event.text,
  }),
  error: (turn, event) => failedTurn(turn, event.error ?? event),
};

/** What a server-sent event makes of the turn; one that nobody knows leaves it as it is. */
export function withEvent(turn, name, event, now) {
  return EVENTS[name] ? EVENTS[name](turn, event, now) : turn;
}

/** The turn after its stream failed; what was already written stays. */
export function failedTurn(turn, error) {
  return { ...turn, state: turn.text ? "broken_off" : "failed", error };
}

export function stoppedTurn(turn) {
  return { ...turn, state: "stopped" };
}

/** Whether asking again replaces this turn (nothing in it is worth keeping) or is a new one. */
export function isReplaceable(turn) {
  return turn.state !== "complete" && turn.state !== "running";
}

/** The sources used, one entry a number: `{n, source_id, source, heading, page, citations}`. */
export function sourcesUsed(citations) {
  const byNumber = new Map();
  for (const citation of citations) {
    const known = byNumber.get(citation.n);
    if (known) known.citations.push(citation);
    else byNumber.set(citation.n, { ...citation, citations: [citation] });
  }
  return [...byNumber.values()].sort((one, other) => one.n - other.n);
}

/** What the viewer must open to show all quotes of one number. */
export function passageOf(citations) {
  const [first] = citations;
  return {
    source_id: first.source_id, source: first.source, start: first.start, end: first.end,
    quotes: citations.map(({ start, end, quote }) => ({ start, end, quote })),
  };
}

/** The answer with its sources as a Markdown list; `heading` stands above the list. */
export function answerMarkdown(text, citations, heading) {
  const list = sourcesUsed(citations).map((used) => `- [${used.n}] ${place(used)}`);
  return list.length ? `${text.trim()}\n\n${heading}\n\n${list.join("\n")}\n` : `${text.trim()}\n`;
}

/** A passage's place in words: source · heading · page. */
export function place({ source, heading, page }) {
  return [source, heading, page ? `p. ${page}` : ""].filter(Boolean).join(" · ");
}

/** The first line of a passage that says something, for a list. */
export function firstLine(text, length = 120) {
  const line = text.split("\n").map((one) => one.trim()).find(Boolean) ?? "";
  const points = [...line];
  return points.length > length ? `${points.slice(0, length).join("")}…` : line;
}

/** Seconds for a person: 0.42, 3.1, 75. */
export function seconds(value) {
  return value < 1 ? value.toFixed(2) : value < 20 ? value.toFixed(1) : value.toFixed(0);
}

function stateOf(finish) {
  return { complete: "complete", length: "complete", stopped: "stopped", broken_off: "broken_off" }[finish] ?? "complete";
}
