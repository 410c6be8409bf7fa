// @ts-check
import { html, useEffect, useId, useRef, useState } from "../vendor.js";
import { Icon } from "./icons.js";

/**
 * A button that opens a menu. `entries`: [{label, icon?, onSelect, danger?, checked?, disabled?, note?} | "line"];
 * arrow keys move, Escape closes and gives the focus back. The list lies in the top layer, so nothing clips it.
 */
export function Menu({ label, entries, children, class: extra = "icon-button", align = "end" }) {
  const id = useId();
  const button = useRef(null);
  const list = useRef(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (open) showAt(list.current, button.current, align);
  }, [open]);
  const select = (entry) => {
    list.current.hidePopover();
    button.current.focus();
    entry.onSelect();
  };
  return html`<button
      type="button"
      ref=${button}
      class=${extra}
      aria-haspopup="menu"
      aria-expanded=${open ? "true" : "false"}
      aria-controls=${open ? id : undefined}
      aria-label=${label}
      title=${label}
      onClick=${() => setOpen(!open)}
    >
      ${children ?? html`<${Icon} name="more" />`}
    </button>
    ${open &&
    html`<div
      id=${id}
      ref=${list}
      class="menu"
      role="menu"
      popover="auto"
      aria-label=${label}
      onToggle=${(event) => event.newState === "closed" && setOpen(false)}
      onKeyDown=${(event) => moveFocus(event, list.current, button.current)}
    >
      ${entries.map((entry) => html`<${Entry} entry=${entry} select=${select} />`)}
    </div>`}`;
}

function Entry({ entry, select }) {
  if (entry === "line") return html`<div class="menu-line" role="separator"></div>`;
  const isChoice = entry.checked !== undefined;
  return html`<button
    type="button"
    class=${`menu-entry ${entry.danger ? "danger-text" : ""}`}
    role=${isChoice ? "menuitemradio" : "menuitem"}
    aria-checked=${isChoice ? String(entry.checked) : undefined}
    tabindex="-1"
    disabled=${entry.disabled}
    onClick=${() => select(entry)}
  >
    <span class="menu-icon"><${Icon} name=${entry.checked ? "check" : (entry.icon ?? "")} /></span>
    <span class="menu-label">${entry.label}</span>
    ${entry.note !== undefined && html`<span class="menu-note">${entry.note}</span>`}
  </button>`;
}

function showAt(list, button, align) {
  list.showPopover();
  const from = button.getBoundingClientRect();
  const size = list.getBoundingClientRect();
  const left = align === "end" ? from.right - size.width : from.left;
  const below = from.bottom + 4;
  const top = below + size.height > innerHeight - 8 ? Math.max(8, from.top - size.height - 4) : below;
  list.style.left = `${Math.max(8, Math.min(left, innerWidth - size.width - 8))}px`;
  list.style.top = `${top}px`;
  (list.querySelector("[aria-checked=true]") ?? list.querySelector("button:enabled"))?.focus();
}

function moveFocus(event, list, button) {
  const entries = [...list.querySelectorAll("button:enabled")];
  const at = entries.indexOf(document.activeElement);
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1 + entries.length, Home: 0, End: entries.length - 1 };
  if (event.key in steps) {
    event.preventDefault();
    entries[steps[event.key] % entries.length]?.focus();
  } else if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    list.hidePopover();
    button.focus();
  }
}
