// @ts-check
import { t } from "../i18n.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { html } from "../vendor.js";

/** "auto" chooses one of the others. */
export const MODES = ["auto", "rag", "resident", "hybrid"];

/** How the next question alone is answered; "auto": as the notebook is. */
export function ModeMenu({ mode, choose }) {
  const name = (one) => t(one === "auto" ? "mode.same" : `mode.${one}`);
  const entries = MODES.map((one) => ({ label: name(one), checked: one === mode, onSelect: () => choose(one) }));
  const isOwn = mode !== "auto";
  return html`<${Menu} class=${isOwn ? "button small mode-own" : "icon-button"} label=${t("mode.question", { mode: name(mode) })} entries=${entries}>
    ${isOwn ? name(mode) : html`<${Icon} name="sliders" size=${16} />`}
  <//>`;
}
