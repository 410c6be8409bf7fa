// @ts-check
import { t } from "../i18n.js";
import { fetched } from "../later.js";
import { app, firstValue } from "../state.js";
import { html, useEffect, useState } from "../vendor.js";

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
    const { panels } = await firstValue(app, (value) => value.panels && value.notebook); // the page may not be there yet
    if (files.length) panels.sendFiles(files);
  };
  const listeners = { dragover: over, dragleave: leave, drop };
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, /** @type {any} */ (listener));
  return () => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, /** @type {any} */ (listener));
  };
}

// Files and entries must be taken before the first await.
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [...transfer.files];
  if (!entries.some((entry) => entry.isDirectory)) return files;
  const folders = await fetched(() => import("./folders.js"));
  return folders ? folders.filesOf(entries) : [];
}
