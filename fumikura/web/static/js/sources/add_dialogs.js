// @ts-check
/** The dialogs that add a source; `arrived(jobs)` is called when the server has taken it. */
import "../strings/later.js";
import { inNotebook, post } from "../api.js";
import { t } from "../i18n.js";
import { askDialog, openDialog } from "../ui/dialog.js";
import { html, useState } from "../vendor.js";

/** Dialog: an address whose page becomes a source. */
export function addUrl(arrived) {
  return askDialog({
    title: t("add.url"),
    label: t("add.url.label"),
    hint: t("add.url.hint"),
    type: "url",
    confirm: t("add.do"),
    save: async (url) => {
      const { jobs } = await post(inNotebook("/sources/url"), { url });
      arrived(jobs);
    },
  });
}

/** Dialog: pasted text becomes a source. */
export function addText(arrived) {
  return openDialog({ title: t("add.text"), size: "wide", body: (close) => html`<${TextForm} close=${close} arrived=${arrived} />` });
}

function TextForm({ close, arrived }) {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const { jobs } = await post(inNotebook("/sources/text"), { text, ...(name.trim() && { name: name.trim() }) });
      close(true);
      arrived(jobs);
    } catch (failure) {
      setError([failure.message, failure.hint].filter(Boolean).join(" "));
      setBusy(false);
    }
  };
  return html`<div class="form">
    <label class="field">
      <span>${t("add.text.name")}</span>
      <input value=${name} maxlength="200" placeholder=${t("add.text.name.example")} onInput=${(e) => setName(e.target.value)} />
    </label>
    <label class="field">
      <span>${t("add.text.text")}</span>
      <textarea rows="12" data-autofocus value=${text} onInput=${(e) => setText(e.target.value)}></textarea>
    </label>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <div class="dialog-buttons">
      <button type="button" class="button" onClick=${() => close()}>${t("cancel")}</button>
      <button type="button" class="button primary" disabled=${!text.trim() || busy} onClick=${save}>${t("add.do")}</button>
    </div>
  </div>`;
}
