// @ts-check
import { get, inNotebook, post } from "../api.js";

/** Characters (code points) fetched at a time: the server's own limit. */
export const WINDOW = 200_000;

const path = (sourceId, rest = "") => inNotebook(`/sources/${sourceId}${rest}`);

/** The source with its outline, and where each quote stands now; `removed` when there is no such source. */
export async function readSource({ source_id: id, start, end, quotes }) {
  const wanted = quotes?.length ? quotes : start === undefined ? [] : [{ start, end, quote: "" }];
  try {
    const [source, found] = await Promise.all([get(path(id)), Promise.all(wanted.map((one) => standing(id, one)))]);
    return { source, quotes: found };
  } catch (error) {
    if (error.status === 404) return { removed: true, quotes: wanted };
    throw error;
  }
}

// A place without its words cannot be checked: it is shown as it was given.
async function standing(sourceId, quote) {
  if (!quote.quote) return { ...quote, state: "same" };
  const body = { source_id: sourceId, start: quote.start, end: quote.end, quote: quote.quote };
  const { state, start, end } = await post(inNotebook("/passage"), body);
  return { ...quote, state, start, end };
}

/** A stretch of the text that begins at `start`: {start, end, length, text}. */
export function readWindow(sourceId, start) {
  return get(path(sourceId, `/text?start=${start}&end=${start + WINDOW}`));
}

/** Where to begin so that `offset` is seen with what stands before it. */
export const windowAround = (offset) => (offset < WINDOW ? 0 : offset - WINDOW / 2);
