// @ts-check
import { language, t } from "./i18n.js";
import { app } from "./state.js";

/** A refusal or failure with the server's own words; code "offline": no answer at all. */
export class ApiError extends Error {
  constructor({ code, message, hint = "", ...more }, status = 0) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.status = status;
    this.more = more;
  }
}

/** The address of `path` ("/sources") in the open notebook. */
export const inNotebook = (path) => `/api/notebooks/${app.get().notebook?.id ?? "default"}${path}`;

export const get = (path, options) => request("GET", path, undefined, options);
export const post = (path, body, options) => request("POST", path, body, options);
export const patch = (path, body, options) => request("PATCH", path, body, options);
export const del = (path, options) => request("DELETE", path, undefined, options);

async function request(method, path, body, { signal = undefined } = {}) {
  const response = await send(method, path, body, { signal, accept: "application/json" });
  if (response.status === 204) return null;
  return response.json().catch(() => {
    throw new ApiError({ code: "reply", message: t("error.reply") }, response.status);
  });
}

async function send(method, path, body, { signal, accept }) {
  const headers = { Accept: accept, "Accept-Language": language() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const payload = body === undefined ? undefined : JSON.stringify(body);
  let response;
  try {
    response = await fetch(path, { method, headers, body: payload, signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw offline();
  }
  serverAnswered();
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  if (response.status === 401) askForToken(response.url);
  const body = await response.json().catch(() => ({}));
  return refused(body, response.status);
}

/** @returns {ApiError} from the body {"error": {…}} of a reply */
function refused(body, status) {
  const fallback = { code: "http", message: t("error.status", { status: String(status) }) };
  return new ApiError(body?.error?.message ? body.error : fallback, status);
}

function askForToken(url) {
  if (!url.endsWith("/api/login")) location.assign(`/login${location.hash}`);
}

/**
 * Send one file; `onProgress` gets the share sent (0 to 1).
 * XMLHttpRequest, because fetch does not tell how much has been sent.
 */
export function upload(path, file, { onProgress = (_share) => {}, signal = undefined } = {}) {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open("POST", path);
    xhr.responseType = "json";
    xhr.setRequestHeader("Accept", "application/json");
    xhr.setRequestHeader("Accept-Language", language());
    xhr.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    xhr.onload = () => (xhr.status < 300 ? resolve(xhr.response) : reject(refusedUpload(xhr)));
    xhr.onerror = () => reject(offline());
    xhr.onabort = () => reject(new DOMException("aborted", "AbortError"));
    signal?.addEventListener("abort", () => xhr.abort());
    const form = new FormData();
    form.append("files", file, file.path || file.name);
    xhr.send(form);
  });
}

function refusedUpload(xhr) {
  if (xhr.status === 401) askForToken(xhr.responseURL);
  return refused(xhr.response, xhr.status);
}

/**
 * POST and read server-sent events: onEvent(name, payload) for each. Ends when the server ends the stream;
 * throws ApiError "broken_off" when the connection breaks, AbortError when `signal` aborts.
 */
export async function stream(path, body, { onEvent, signal }) {
  const response = await send("POST", path, body, { signal, accept: "text/event-stream" });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let waiting = ""; // the part of the last event that has not arrived yet
  for (;;) {
    const { done, value } = await read(reader);
    if (done) return;
    const events = (waiting + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    waiting = events.pop() ?? "";
    for (const event of events) dispatch(event, onEvent);
  }
}

async function read(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    offline(); // starts the health poll, which says at once if the server is there after all
    throw new ApiError({ code: "broken_off", message: t("error.broken_off"), hint: t("error.broken_off.hint") });
  }
}

function dispatch(event, onEvent) {
  let name = "message";
  const lines = [];
  for (const line of event.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) lines.push(line.slice(5).replace(/^ /, ""));
  }
  if (lines.length) onEvent(name, JSON.parse(lines.join("\n")));
}

let polling = false;
const waitingForServer = new Set();

/** Call `reload` each time the server can be reached again. @returns {() => void} ends it */
export function onReconnect(reload) {
  waitingForServer.add(reload);
  return () => waitingForServer.delete(reload);
}

function offline() {
  if (!polling) pollHealth(500);
  return new ApiError({ code: "offline", message: t("error.offline"), hint: t("error.offline.hint") });
}

function serverAnswered() {
  if (app.get().online) return;
  app.set({ online: true });
  for (const reload of [...waitingForServer]) reload();
}

async function pollHealth(waitMs) {
  polling = true;
  try {
    await fetch("/api/health", { cache: "no-store" });
    polling = false;
    serverAnswered();
  } catch {
    app.set({ online: false });
    setTimeout(() => pollHealth(Math.min(waitMs * 1.6, 8000)), waitMs);
  }
}
