// @ts-check
/**
 * Markdown of answers, notes and sources → HTML that may be put into the page. The only place that makes HTML.
 * Half of all bytes hang on its libraries: marked.js fetches it after the page is in use.
 */
import cjkFriendly from "../vendor/markdown-it-cjk-friendly/markdown-it-cjk-friendly.js";
// UMD files: as modules they can only set a global. (markdown-it as a module is 3 KB larger, compressed.)
import "../vendor/dompurify/purify.js";
import "../vendor/markdown-it/markdown-it.js";
import { t } from "./i18n.js";

const { DOMPurify, markdownit: markdownIt } = /** @type {any} */ (globalThis);

const HEADING_SHIFT = 3; // an answer stands below the panel's h2 and the question's h3

const ALLOWED = {
  ALLOWED_TAGS: [
    "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
    "s", "table", "thead", "tbody", "tr", "th", "td", "a", "span", "button", "div",
  ],
  ALLOWED_ATTR: ["href", "target", "rel", "class", "start", "type", "data-n", "aria-label", "tabindex", "role"],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  ADD_URI_SAFE_ATTR: ["target", "rel", "start", "type", "data-n", "tabindex"], // the pattern above is for addresses only
};

const parser = markdownIt({ html: false, linkify: false, typographer: false });
parser.use(cjkFriendly);
parser.validateLink = (url) => /^https?:\/\//i.test(url.trim());
// A line 「[1]: …」 of an answer is a mark and its sentence, not the definition of a link.
parser.disable("reference");
parser.inline.ruler.before("link", "mark", readMark);
parser.renderer.rules.mark = (tokens, index, _options, env) => markHtml(tokens[index].content, env);
parser.renderer.rules.image = (tokens, index) => imageHtml(tokens[index]);
parser.renderer.rules.link_open = (tokens, index) =>
  `<a class="md-link" href="${escape(tokens[index].attrGet("href") ?? "")}" target="_blank" rel="noopener noreferrer">`;
parser.renderer.rules.link_close = (tokens, index) => `</a>${targetHtml(tokens, index)}`;
parser.renderer.rules.table_open = () => `<div class="md-table" role="group" tabindex="0" aria-label="${t("text.table")}"><table>`;
parser.renderer.rules.table_close = () => "</table></div>";
for (const cell of ["th", "td"]) parser.renderer.rules[`${cell}_open`] = (tokens, index) => cellHtml(cell, tokens[index]);
for (const end of ["open", "close"]) {
  parser.renderer.rules[`heading_${end}`] = (tokens, index) => headingHtml(tokens[index].tag, end === "close");
}

/**
 * Return safe HTML. `numbers`: the citations that `[n]` may name; `live`: whether the marks are buttons.
 * @param {string} text
 * @param {{numbers?: Iterable<number> | "all", live?: boolean}} [options]
 */
export function renderMarkdown(text, { numbers = [], live = true } = {}) {
  const env = { numbers: numbers === "all" ? null : new Set(numbers), live };
  return DOMPurify.sanitize(parser.render(text, env), ALLOWED);
}

/** markdown-it's inline rule for `[n]`: code spans are read before it, so that a mark in code stays text. */
function readMark(state, silent) {
  const found = /^\[(\d{1,3})\]/.exec(state.src.slice(state.pos, state.pos + 5));
  const known = state.env.numbers;
  if (!found || (known && !known.has(Number(found[1])))) return false;
  if (!silent) state.push("mark", "", 0).content = found[1];
  state.pos += found[0].length;
  return true;
}

function markHtml(n, { live }) {
  if (!live) return `<span class="mark mark-quiet">${n}</span>`;
  return `<button type="button" class="mark" data-n="${n}" aria-label="${t("text.mark", { n })}">${n}</button>`;
}

/** An image is never loaded: loading one would tell its server what was asked. */
function imageHtml(token) {
  const target = token.attrGet("src") ?? "";
  return `<span class="md-image">${t("text.image")} ${escape(token.content)} <span class="md-target">${escape(target)}</span></span>`;
}

/** The address behind a link's words, unless the words are the address. */
function targetHtml(tokens, index) {
  let open = index - 1;
  while (tokens[open].type !== "link_open") open -= 1;
  const href = tokens[open].attrGet("href") ?? "";
  const words = tokens.slice(open + 1, index).map((token) => token.content).join("");
  return words === href ? "" : ` <span class="md-target">(${escape(href)})</span>`;
}

/** Columns are aligned by class: the page's policy allows no style attribute. */
function cellHtml(cell, token) {
  const align = /text-align:(left|center|right)/.exec(token.attrGet("style") ?? "")?.[1];
  return align ? `<${cell} class="md-${align}">` : `<${cell}>`;
}

function headingHtml(tag, closing) {
  const level = Math.min(6, Number(tag.slice(1)) + HEADING_SHIFT);
  return closing ? `</h${level}>` : `<h${level}>`;
}

function escape(text) {
  return parser.utils.escapeHtml(text);
}
