// @ts-check
import { html } from "../vendor.js";

// 20 × 20 line drawings; each entry holds the paths of one icon.
const PATHS = {
  add: ["M10 4v12", "M4 10h12"],
  archive: ["M3.5 6.5h13v10h-13z", "M3.5 6.5l1.5-3h10l1.5 3", "M8 10h4"],
  book: ["M10 5.5C8.4 4.2 6.2 3.7 3.5 3.7v11c2.7 0 4.9 .5 6.5 1.8 1.6-1.3 3.8-1.8 6.5-1.8v-11c-2.7 0-4.9 .5-6.5 1.8z", "M10 5.5v11"],
  chat: ["M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5z"],
  check: ["M4 10.5l4 4 8-9"],
  chevron: ["M5.5 8l4.5 4.5L14.5 8"],
  close: ["M5 5l10 10", "M15 5L5 15"],
  copy: ["M7 7h9.5v9.5H7z", "M13 7V3.5H3.5V13H7"],
  download: ["M10 3.5v9", "M6 9l4 4 4-4", "M4 16.5h12"],
  edit: ["M4 16l.7-3.2L13 4.5 15.5 7l-8.3 8.3z", "M11.5 6l2.5 2.5"],
  file: ["M5 3h6.5L15 6.5V17H5z", "M11.5 3v3.5H15"],
  info: ["M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14z", "M10 9v4.5", "M10 6.3v.2"],
  left: ["M12 5l-5 5 5 5"],
  link: ["M8.5 11.5l3-3", "M9.5 6.5l1.7-1.7a2.9 2.9 0 0 1 4.1 4.1L13.5 10.5", "M10.5 13.5l-1.7 1.7a2.9 2.9 0 0 1-4.1-4.1L6.5 9.5"],
  moon: ["M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z"],
  more: ["M4.5 10h.1", "M10 10h.1", "M15.5 10h.1"],
  note: ["M4 3.5h12v9l-4 4H4z", "M12 16.5v-4h4", "M7 7.5h6M7 10.5h4"],
  panel: ["M3.5 4h13v12h-13z", "M8 4v12"],
  pin: ["M7 3.5h6l-.8 5 2.3 2.5H5.5l2.3-2.5z", "M10 11v5.5"],
  retry: ["M15.5 8A6 6 0 1 0 16 11", "M16 4v4h-4"],
  right: ["M8 5l5 5-5 5"],
  search: ["M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4z", "M12.7 12.7L16.5 16.5"],
  send: ["M10 16V4.5", "M5 9.5l5-5 5 5"],
  sliders: ["M3.5 6.5h7M14.5 6.5h2", "M3.5 13.5h2M9.5 13.5h7", "M12.5 4.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z", "M7.5 11.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z"],
  stop: ["M6 6h8v8H6z"],
  sun: ["M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z", "M10 2v1.8M10 16.2V18M2 10h1.8M16.2 10H18M4.3 4.3l1.3 1.3M14.4 14.4l1.3 1.3M4.3 15.7l1.3-1.3M14.4 5.6l1.3-1.3"],
  text: ["M4 5h12M4 8.5h12M4 12h12M4 15.5h7"],
  trash: ["M4 6h12", "M8 6V3.5h4V6", "M5.5 6l.7 10.5h7.6L14.5 6", "M8.5 9v4.5M11.5 9v4.5"],
  warning: ["M10 3.5l7 12.5H3z", "M10 8.5v3.5", "M10 14v.2"],
};

/** A decorative line icon in the colour of the text around it. */
export function Icon({ name, size = 18 }) {
  return html`<svg
    class="icon"
    width=${size}
    height=${size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    stroke-width=${name === "more" ? 2.4 : 1.6}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    ${(PATHS[name] ?? []).map((d) => html`<path d=${d} />`)}
  </svg>`;
}

/** A square button that shows an icon only; `label` is its name and its tooltip. */
export function IconButton({ icon, label, size = undefined, class: extra = "", ...rest }) {
  return html`<button type="button" class=${`icon-button ${extra}`} aria-label=${label} title=${label} ...${rest}>
    <${Icon} name=${icon} size=${size} />
  </button>`;
}
