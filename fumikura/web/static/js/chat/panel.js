// @ts-check
import { addStrings, t } from "../i18n.js";
import { plainText } from "../marked.js";
import { sources } from "../sources/progress.js";
import { app, useStore } from "../state.js";
import { chatStrings } from "../strings/chat.js";
import { Icon } from "../ui/icons.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { ConversationBar } from "./bar.js";
import { ask, openNotebook, showNotebook } from "./conversation.js";
import { chat } from "./store.js";
import { Turn } from "./turn.js";

addStrings(chatStrings);

const AT_END_PX = 48; // nearer than this to the end, the reader follows the answer
const TURNS_AT_ONCE = 40; // 500 took 2 s before the first was seen, 40 take 0.15 s
const NEAR_TOP_PX = 800; // nearer than this to the top, earlier turns are added

/** The middle panel above the field for a question: the conversation's bar and its turns. Made anew with each notebook. */
export function ChatPanel() {
  const spoken = useStore(chat, (value) => value.spoken);
  const counted = useStore(app, ({ notebook }) => (notebook?.source_count ?? 0) > 0);
  const listed = useStore(sources, ({ list }) => list.length > 0);
  useEffect(() => void showNotebook(), []);
  return html`<${ConversationBar} />
    <${Turns} hasSources=${counted || listed} />
    <p class="visually-hidden" aria-live="polite">${plainText(spoken)}</p>`;
}

function Turns({ hasSources }) {
  const status = useStore(chat, (value) => value.status);
  const turns = useStore(chat, (value) => value.turns);
  const conversationId = useStore(chat, (value) => value.conversationId);
  const scroller = useRef(/** @type {any} */ (null));
  const { shown, earlier } = useLastTurns(turns, scroller);
  const { list, away, toEnd } = useFollowing(turns, conversationId, scroller, earlier);
  return html`<div class="chat-body">
    <div class="chat-scroll" ref=${scroller} role="region" aria-label=${t("chat.log")} tabindex="0">
      ${shown.length < turns.length && html`<button type="button" class="button small earlier" onClick=${earlier}>${t("chat.earlier", { n: turns.length - shown.length })}</button>`}
      <ol class="turns" ref=${list}>
        ${shown.map((turn) => html`<${Turn} key=${turn.key} turn=${turn} conversationId=${conversationId} />`)}
      </ol>
      ${!turns.length && html`<${Nothing} status=${status} hasSources=${hasSources} />`}
    </div>
    ${away && html`<button type="button" class="to-end" onClick=${toEnd} aria-label=${t("chat.to_end")} title=${t("chat.to_end")}><${Icon} name="chevron" /></button>`}
  </div>`;
}

function Nothing({ status, hasSources }) {
  if (status === "loading") return html`<${Waiting} />`;
  if (status === "failed") return html`<${Unreadable} />`;
  if (!hasSources) {
    return html`<div class="empty chat-empty">
      <${Icon} name="book" size="40" />
      <strong>${t("chat.empty_no_sources_title")}</strong>
      <p>${t("chat.empty_no_sources_text")}</p>
    </div>`;
  }
  return html`<div class="empty chat-empty">
    <${Icon} name="chat" size="40" />
    <strong>${t("chat.empty_title")}</strong>
    <p>${t("chat.empty_text")}</p>
    <${Suggestions} />
  </div>`;
}

function Waiting() {
  return html`<div class="chat-waiting" role="status" aria-label=${t("chat.loading")}>
    <div class="skeleton"></div>
    <div class="skeleton"></div>
    <div class="skeleton"></div>
  </div>`;
}

function Unreadable() {
  return html`<div class="empty chat-empty">
    <strong>${t("chat.load_failed")}</strong>
    <button type="button" class="button" onClick=${openNotebook}>${t("chat.again")}</button>
  </div>`;
}

/** The sample notebook knows what can be asked of it. */
function Suggestions() {
  const name = useStore(app, (value) => value.notebook?.name);
  if (name !== "sample") return null;
  return html`<div class="suggestions">
    <p>${t("chat.suggestions")}</p>
    ${[1, 2, 3].map((n) => t(`chat.sample_${n}`)).map((question) => html`<button type="button" class="button" onClick=${() => ask(question)}>${question}</button>`)}
  </div>`;
}

/** The last turns; `earlier()` adds more above them, and what is in view stays where it is. */
function useLastTurns(turns, scroller) {
  const first = turns[0]?.key;
  const [wanted, setWanted] = useState({ first, count: TURNS_AT_ONCE });
  const count = wanted.first === first ? wanted.count : TURNS_AT_ONCE;
  const below = useRef(/** @type {number | null} */ (null)); // from the top of the view to the end, in pixels
  useLayoutEffect(() => {
    if (below.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight - below.current;
    below.current = null;
  }, [count]);
  const earlier = () => {
    if (count >= turns.length) return;
    below.current = scroller.current.scrollHeight - scroller.current.scrollTop;
    setWanted({ first, count: count + TURNS_AT_ONCE });
  };
  return { shown: turns.slice(-count), earlier };
}

/**
 * Keep the reader where they are: a new question goes to the top of the view, an answer is followed only while the
 * reader is at the end, and an opened conversation begins at its end.
 */
function useFollowing(turns, conversationId, scroller, earlier) {
  const list = useRef(/** @type {any} */ (null));
  const following = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = () => scroller.current.scrollTo({ top: scroller.current.scrollHeight });
  const now = useRef(/** @type {any} */ (null)); // for the listeners, which are set up once
  now.current = { running: turns.some((turn) => turn.state === "running"), earlier };
  useLayoutEffect(() => {
    following.current = true;
    toEnd();
  }, [turns.at(-1)?.key, conversationId]);
  useEffect(() => {
    const { current } = scroller;
    const watched = () => {
      const left = current.scrollHeight - current.scrollTop - current.clientHeight;
      following.current = left < AT_END_PX;
      setAway(left > current.clientHeight);
      if (current.scrollTop < NEAR_TOP_PX) now.current.earlier();
    };
    const grown = new ResizeObserver(() => now.current.running && following.current && toEnd());
    grown.observe(list.current);
    current.addEventListener("scroll", watched, { passive: true });
    return () => {
      grown.disconnect();
      current.removeEventListener("scroll", watched);
    };
  }, []);
  return { list, away, toEnd };
}
