// @ts-check
// The three panels with all that they need: fetched after the first paint, when the field for a question is there.
import { markdownReady } from "./marked.js";
import { watchProgress } from "./sources/progress.js";

export { ask, stop } from "./chat/conversation.js";
export { ChatPanel } from "./chat/panel.js";
export { NotesPanel } from "./notes/panel.js";
export { SourcesPanel } from "./sources/panel.js";
export { sendFiles } from "./sources/uploads.js";

watchProgress();
markdownReady();
