// @ts-check
import { createStore } from "../state.js";

/** The open conversation. `status`: "loading" | "ready" | "failed"; `spoken`: what a screen reader is told when an answer is there. */
export const chat = createStore({
  notebookId: /** @type {any} */ (null),
  status: "loading",
  conversations: /** @type {any[]} */ ([]),
  conversationId: /** @type {string | null} */ (null),
  turns: /** @type {import("./model.js").Turn[]} */ ([]),
  spoken: "",
});

/**
 * Turns that this page is streaming, and those that the server has not kept (no turn_id), by key: {turn, controller, notebookId,
 * conversationId}. They go on while another conversation is shown.
 */
export const live = new Map();

/** The turn that is being answered on this page, if any. */
export const runningTurn = ({ turns }) => turns.find((turn) => turn.state === "running" && live.has(turn.key));
