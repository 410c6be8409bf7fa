// @ts-check
import { formatNumber, t } from "../i18n.js";
import { html } from "../vendor.js";
import { draft, isDefault, textOf } from "./model.js";

/** One setting: name, what it changes, the value with its bounds, the way back to the default. */
export function Field({ field, drafts, error }) {
  const id = `setting-${field.key}`;
  const label = t(`setting.${field.key}`);
  const isKnown = label !== `setting.${field.key}`; // the server may know settings that this page does not
  const reset = () => draft(field, String(field.default ?? ""));
  return html`<div class="setting">
    <div class="setting-head">
      <label for=${id}>${isKnown ? label : field.key}</label>
      <span class=${`chip effect-${field.effect}`}>${t(`settings.effect.${field.effect}`)}</span>
    </div>
    ${isKnown && html`<p class="hint" id=${`${id}-hint`}>${t(`setting.${field.key}.text`)}</p>`}
    <${Input} id=${id} field=${field} text=${textOf(field, drafts)} isWrong=${Boolean(error)} describedBy=${isKnown ? `${id}-hint` : undefined} />
    <p class="setting-foot">
      <code>${field.key}</code>
      ${bounds(field) && html`<span>${bounds(field)}</span>`}
      ${field.fixed_by && html`<span>${t("settings.fixed_by", { name: field.fixed_by })}</span>`}
      ${!field.fixed_by &&
      !isDefault(field, drafts) &&
      html`<button type="button" class="link-button" onClick=${reset}>${t("settings.reset", { value: shortened(field.default) })}</button>`}
    </p>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
  </div>`;
}

function Input({ id, field, text, isWrong, describedBy }) {
  const shared = {
    id,
    value: text,
    disabled: Boolean(field.fixed_by),
    "aria-describedby": describedBy,
    "aria-invalid": isWrong ? "true" : undefined,
    onInput: (event) => draft(field, event.target.value),
  };
  if (field.kind === "choice") {
    return html`<select ...${shared}>
      ${field.choices.map((choice) => html`<option value=${choice}>${choiceText(field.key, choice)}</option>`)}
    </select>`;
  }
  if (field.key === "llm.system_prompt") return html`<textarea rows="6" ...${shared}></textarea>`;
  if (field.kind === "text") return html`<input type="text" autocomplete="off" ...${shared} />`;
  return html`<input
    type="number"
    step=${field.kind === "integer" ? 1 : "any"}
    min=${field.minimum ?? undefined}
    max=${field.maximum ?? undefined}
    ...${shared}
  />`;
}

function choiceText(key, choice) {
  const name = `setting.${key}.${choice}`;
  return t(name) === name ? choice : t(name);
}

function bounds({ minimum, maximum }) {
  if (minimum === null || maximum === null) return "";
  return t("settings.bounds", { from: formatNumber(minimum), to: formatNumber(maximum) });
}

const shortened = (value) => {
  const text = String(value ?? "");
  return text.length > 24 ? `${text.slice(0, 24)}…` : text;
};
