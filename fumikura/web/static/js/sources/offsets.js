// @ts-check
// The server counts code points, JavaScript strings UTF-16 units: 𠮷 is one of the former and two of the latter.

/** The UTF-16 index of each code point offset; `offsets` ascending. */
export function unitIndexes(text, offsets) {
  if (!/[\ud800-\udfff]/.test(text)) return offsets.map((offset) => Math.min(offset, text.length));
  const found = [];
  let units = 0;
  let points = 0;
  for (const offset of offsets) {
    for (; points < offset && units < text.length; points++) units += text.codePointAt(units) > 0xffff ? 2 : 1;
    found.push(units);
  }
  return found;
}

/**
 * Cut `text`, which begins at code point `base` of the source, into runs at quotes and headings:
 * [{text, quote: index | null, heading: start | null}]. Overlapping quotes are merged into the earlier one.
 */
export function cutRuns(text, base, quotes, headings) {
  const end = base + [...text].length;
  const inside = (offset) => offset >= base && offset < end;
  const marks = quotes.map(({ start, end: to }, index) => ({ start: Math.max(start, base), end: Math.min(to, end), index }));
  const shown = marks.filter((mark) => mark.start < mark.end).sort((a, b) => a.start - b.start);
  const starts = new Set(headings.filter(inside));
  const cuts = [...new Set([base, end, ...starts, ...shown.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
  const units = unitIndexes(text, cuts.map((cut) => cut - base));
  return cuts.slice(0, -1).map((cut, at) => ({
    text: text.slice(units[at], units[at + 1]),
    quote: shown.find((mark) => mark.start <= cut && cut < mark.end)?.index ?? null,
    heading: starts.has(cut) ? cut : null,
  }));
}
