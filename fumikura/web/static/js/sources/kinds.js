// @ts-check

const KINDS = { markdown: "MD", text: "TXT" };

/** "markdown" → MD, "pdf" → PDF */
export const kindLabel = (kind) => KINDS[kind] ?? kind.toUpperCase();
