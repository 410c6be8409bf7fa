// @ts-check
import { fetchedWithStyle } from "../later.js";

/** Open a source beside the chat; `wanted` as of openSource in viewer.js, which is fetched when it is first needed. */
export async function openSource(wanted) {
  const viewer = await fetchedWithStyle(() => import("./viewer.js"));
  viewer?.openSource(wanted);
}
