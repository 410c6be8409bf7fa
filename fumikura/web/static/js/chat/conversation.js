// @ts-check
/** What can be done with the open conversation. Components call nothing else. */
import { ApiError, del, get, inNotebook, onReconnect, patch, stream } from "../api.js";
import { t } from "../i18n.js";
import { markdownReady } from "../marked.js";
import { app, remember, remembered } from "../state.js";
import { toastError } from "../ui/toast.js";
import { askedTurn, failedTurn, isReplaceable, keptTurn, stoppedTurn, withEvent } from "./model.js";
import { chat, live } from "./store.js";

const POLL_MS = 2000;

/** Show the open notebook's conversation; nothing happens where it is shown already (the page only changed language). */
export async function showNotebook() {
  if (chat.get().notebookId !== app.get().notebook?.id) await openNotebook();
}

/** Show the conversation that was last open in this notebook. */
export async function openNotebook() {
  const notebook = app.get().notebook?.id;
  chat.set({ notebookId: notebook, status: "loading", conversations: [], conversationId: null, turns: unkept(null), spoken: "" });
  try {
    const { conversations } = await get(inNotebook("/conversations"));
    if (chat.get().notebookId !== notebook) return;
    chat.set({ conversations });
    const last = remembered(`conversation.${notebook}`) ?? conversations[0]?.conversation_id;
    const open = conversations.find((one) => one.conversation_id === last);
    if (open) await openConversation(open.conversation_id);
    else chat.set({ status: "ready" });
  } catch (error) {
    chat.set({ status: "failed" });
    toastError(error);
  }
}

onReconnect(() => chat.get().status === "failed" && openNotebook());

/** @param {string} conversationId */
export async function openConversation(conversationId) {
  chat.set({ status: "loading", conversationId, turns: unkept(conversationId) });
  keepOpen(conversationId);
  try {
    const [{ turns }] = await Promise.all([get(inNotebook(`/conversations/${conversationId}`)), markdownReady()]);
    if (chat.get().conversationId !== conversationId) return;
    chat.set({ status: "ready", turns: [...turns.map((turn) => liveTurn(turn.turn_id) ?? keptTurn(turn)), ...unkept(conversationId)] });
    pollWhileRunning(conversationId);
  } catch (error) {
    chat.set({ status: "failed" });
    toastError(error);
  }
}

/** An empty conversation; the server makes it with the first question. */
export function startConversation() {
  chat.set({ status: "ready", conversationId: null, turns: unkept(null) });
  keepOpen("");
}

/** Throws ApiError. @param {string} conversationId @param {string} title */
export async function renameConversation(conversationId, title) {
  await patch(inNotebook(`/conversations/${conversationId}`), { title });
  await refreshList();
}

/** @param {string} conversationId */
export async function removeConversation(conversationId) {
  if (!(await attempt(() => del(inNotebook(`/conversations/${conversationId}`))))) return;
  if (chat.get().conversationId === conversationId) startConversation();
  await refreshList();
}

/** Ask, and stream the answer into a new turn. @param {string} question @param {string} mode of this question alone */
export async function ask(question, mode = "auto") {
  const turn = askedTurn(question, Date.now(), mode);
  const { notebookId, conversationId, status, turns } = chat.get();
  const controller = new AbortController();
  // Asked where no conversation could be read, it is shown in the one that is opened next (undefined).
  live.set(turn.key, { turn, controller, notebookId, conversationId: conversationId ?? (status === "ready" ? null : undefined) });
  chat.set({ turns: [...turns.map((one) => (one.fresh ? { ...one, fresh: false } : one)), turn] });
  await answer(turn, conversationId, controller.signal);
  await refreshList();
}

/** End the generation of a turn that this page is streaming. */
export function stop(turn) {
  live.get(turn.key)?.controller.abort();
}

/** Ask the same again; a turn without a whole answer is replaced. */
export async function retry(turn) {
  if (isReplaceable(turn)) {
    const { conversationId, turns } = chat.get();
    const path = `/conversations/${conversationId}/turns/${turn.turn_id}`;
    if (turn.turn_id && !(await attempt(() => del(inNotebook(path))))) return;
    live.delete(turn.key);
    chat.set({ turns: turns.filter((one) => one.key !== turn.key) });
  }
  await ask(turn.question, turn.mode);
}

async function answer(turn, conversationId, signal) {
  const pen = framePen((text) => change(turn.key, "token", { text }));
  const onEvent = (name, event) => {
    if (name === "token") return pen.add(event.text);
    pen.flush();
    if (name === "hits") adopt(turn.key, event.conversation_id);
    change(turn.key, name, event);
  };
  const own = turn.mode === "auto" ? {} : { mode: turn.mode };
  const body = { question: turn.question, ...own, ...(conversationId ? { conversation_id: conversationId } : {}) };
  let error = null;
  try {
    await stream(inNotebook("/ask"), body, { onEvent, signal });
  } catch (thrown) {
    error = thrown;
  }
  pen.flush();
  close(turn.key, error);
}

/** Gather streamed text and hand it on once a frame. A hidden page has no frames: there, `flush` does it. */
function framePen(write) {
  let waiting = "";
  let frame = 0;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (waiting) write(waiting);
    waiting = "";
  };
  return {
    flush,
    add(text) {
      waiting += text;
      frame ||= requestAnimationFrame(flush);
    },
  };
}

function change(key, name, event) {
  replace(key, (turn) => withEvent(turn, name, event, Date.now()));
}

function replace(key, make) {
  const known = live.get(key);
  known.turn = make(known.turn);
  chat.set(({ turns }) => ({ turns: turns.map((one) => (one.key === key ? known.turn : one)) }));
}

/** The stream has ended: what still runs was stopped or lost. */
function close(key, error) {
  replace(key, (turn) => {
    if (turn.state !== "running") return turn;
    if (error?.name === "AbortError") return stoppedTurn(turn);
    return failedTurn(turn, error instanceof ApiError ? error : lost());
  });
  const { turn } = live.get(key);
  chat.set({ spoken: turn.answer?.text ?? turn.error?.message ?? "" });
  if (turn.turn_id) live.delete(key);
}

const lost = () => ({ code: "broken_off", message: t("answer.lost"), hint: t("answer.lost_hint") });

/** A first question has made its conversation: the page goes on in it. */
function adopt(key, conversationId) {
  const shown = chat.get().turns.some((turn) => turn.key === key);
  if (!shown || chat.get().conversationId) return;
  for (const one of live.values()) if (one.notebookId === chat.get().notebookId) one.conversationId ??= conversationId;
  chat.set({ conversationId });
  keepOpen(conversationId);
  refreshList();
}

async function refreshList() {
  const found = await attempt(() => get(inNotebook("/conversations")));
  if (found) chat.set({ conversations: found.conversations });
}

/** A turn asked in another window is shown as running and read again until it has ended. */
function pollWhileRunning(conversationId) {
  const isElsewhere = (turn) => turn.state === "running" && !live.has(turn.key);
  if (!chat.get().turns.some(isElsewhere)) return;
  setTimeout(async () => {
    if (chat.get().conversationId !== conversationId) return;
    const found = await attempt(() => get(inNotebook(`/conversations/${conversationId}`)));
    if (chat.get().conversationId !== conversationId) return;
    const kept = new Map((found?.turns ?? []).map((turn) => [turn.turn_id, turn]));
    chat.set(({ turns }) => ({
      turns: turns.map((turn) => (isElsewhere(turn) && kept.has(turn.turn_id) ? keptTurn(kept.get(turn.turn_id)) : turn)),
    }));
    pollWhileRunning(conversationId);
  }, POLL_MS);
}

function liveTurn(turnId) {
  return [...live.values()].find(({ turn }) => turn.turn_id === turnId)?.turn;
}

/** The questions of a conversation that the server has not kept: this page alone has them. */
function unkept(conversationId) {
  const notebookId = app.get().notebook?.id;
  const isHere = (one) => one.notebookId === notebookId && [conversationId, undefined].includes(one.conversationId);
  return [...live.values()].filter((one) => !one.turn.turn_id && isHere(one)).map(({ turn }) => turn);
}

// When the page ends (it may begin anew by itself), they wait for the next one's field for a question.
addEventListener("pagehide", () => {
  const questions = {};
  for (const { turn, notebookId } of live.values()) if (!turn.turn_id) (questions[notebookId] ??= []).push(turn.question);
  for (const id in questions) remember(`unsent.${id}`, questions[id].join("\n"), "sessionStorage");
});

function keepOpen(conversationId) {
  remember(`conversation.${app.get().notebook?.id}`, conversationId);
}

/** Do it; true (or its reply) when it worked, and a toast with the server's words when it did not. */
async function attempt(work) {
  try {
    return (await work()) ?? true;
  } catch (error) {
    toastError(error);
    return false;
  }
}
