// @ts-check
import { inNotebook, post } from "../api.js";
import { t } from "../i18n.js";
import { app } from "../state.js";
import { askDialog, openDialog } from "../ui/dialog.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { html, useEffect, useRef, useState } from "../vendor.js";
import { look, sources } from "./progress.js";
import { sendFiles, whenArrived } from "./uploads.js";

// Shown at once in the place of the upload, not only after the next look.
function arrived(jobs, path = inNotebook("/sources")) {
  if (path === inNotebook("/sources")) sources.set((now) => ({ jobs: [...now.jobs, ...jobs] }));
  look();
}

whenArrived(arrived);

/** The button that adds files, pasted text or an address. */
export function AddButton() {
  const input = useRef(null);
  const entries = [
    { label: t("add.files"), icon: "file", onSelect: () => input.current.click() },
    { label: t("add.text"), icon: "text", onSelect: addText },
    { label: t("add.url"), icon: "link", onSelect: addUrl },
  ];
  const onChange = () => {
    sendFiles([...input.current.files]);
    input.current.value = ""; // so that the same file can be chosen again
  };
  return html`<${Menu} class="button primary add-button" label=${t("add")} entries=${entries} align="start">
      <${Icon} name="add" />${t("add")}
    <//>
    <input ref=${input} type="file" multiple hidden aria-label=${t("add.files")} data-testid="file-input" onChange=${onChange} />`;
}

/** Dialog: an address whose page becomes a source. */
export function addUrl() {
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
export function addText() {
  return openDialog({ title: t("add.text"), size: "wide", body: (close) => html`<${TextForm} close=${close} />` });
}

function TextForm({ close }) {
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

/** Takes files dropped anywhere on the page, and says so while they hover over it. */
export function DropVeil() {
  const [isOver, setOver] = useState(false);
  useEffect(() => listenForDrops(setOver), []);
  return isOver && html`<div class="drop-veil" aria-hidden="true"><span>${t("add.drop")}</span></div>`;
}

function listenForDrops(setOver) {
  const bringsFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (event) => {
    if (!bringsFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    setOver(true);
  };
  const leave = (event) => event.relatedTarget === null && setOver(false);
  const drop = async (event) => {
    if (!bringsFiles(event)) return;
    event.preventDefault();
    setOver(false);
    const files = await droppedFiles(event.dataTransfer);
    if (app.get().notebook && files.length) sendFiles(files);
  };
  const listeners = { dragover: over, dragleave: leave, drop };
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, /** @type {any} */ (listener));
  return () => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, /** @type {any} */ (listener));
  };
}

// A dropped folder is opened with all that lies in it. Entries must be taken before the first await.
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  return (await Promise.all(entries.map(filesIn))).flat();
}

async function filesIn(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return (await Promise.all(found.map(filesIn))).flat();
    found.push(...some.filter((one) => !one.name.startsWith(".")));
  }
}
