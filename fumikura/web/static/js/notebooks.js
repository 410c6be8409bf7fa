// @ts-check
import { del, get, patch, post } from "./api.js";
import { t } from "./i18n.js";
import { app, remember, remembered } from "./state.js";
import { askDialog, confirmDialog } from "./ui/dialog.js";
import { toast, toastError } from "./ui/toast.js";

const NAME_LIMIT = 200;

/** The name to show; the notebook that is always there has a friendlier one than "default". */
export const notebookName = (notebook) => (notebook.name === "default" ? t("notebook.default") : notebook.name);

/** Fetch the list and open the notebook that was open last. */
export async function loadNotebooks() {
  try {
    const { notebooks } = await get("/api/notebooks");
    const list = notebooks.length ? notebooks : [{ id: "default", name: "default", source_count: 0, chunk_count: 0 }];
    const wanted = String(app.get().notebook?.id ?? lastOpened());
    const byName = (name) => list.find((one) => one.name === name);
    const notebook = list.find((one) => String(one.id) === wanted) ?? byName("default") ?? list[0];
    app.set({ notebooks: list, notebook });
  } catch (error) {
    toastError(error);
  }
}

// The tab's own choice first: two tabs may show two notebooks.
function lastOpened() {
  try {
    return sessionStorage.getItem("fumikura.notebook") ?? remembered("notebook");
  } catch {
    return null; // storage switched off
  }
}

/** Open a notebook of the list. */
export function openNotebook(notebook) {
  remember("notebook", String(notebook.id));
  try {
    sessionStorage.setItem("fumikura.notebook", String(notebook.id));
  } catch {
    // storage switched off: the choice lasts until the page is closed
  }
  app.set({ notebook });
}

/** Ask for a name, make the notebook and open it. */
export function newNotebook() {
  return askDialog({
    title: t("notebook.new"),
    label: t("notebook.name"),
    confirm: t("notebook.create"),
    save: async (name) => {
      const made = await post("/api/notebooks", { name: name.slice(0, NAME_LIMIT) });
      app.set(({ notebooks }) => ({ notebooks: [...notebooks, made] }));
      openNotebook(made);
    },
  });
}

/** Ask for another name of the open notebook. */
export function renameNotebook() {
  const { notebook } = app.get();
  return askDialog({
    title: t("notebook.rename"),
    label: t("notebook.name"),
    value: notebook.name === "default" ? "" : notebook.name,
    confirm: t("save"),
    save: async (name) => {
      const renamed = await patch(`/api/notebooks/${notebook.id}`, { name: name.slice(0, NAME_LIMIT) });
      app.set(({ notebooks }) => ({
        notebook: renamed,
        notebooks: notebooks.map((one) => (one.id === notebook.id ? renamed : one)),
      }));
    },
  });
}

/** Ask, then delete the open notebook with everything in it. */
export async function deleteNotebook() {
  const { notebook } = app.get();
  const params = { name: notebookName(notebook), count: notebook.source_count };
  const text = t("notebook.delete.text", params);
  if (!(await confirmDialog({ title: t("notebook.delete"), text, confirm: t("delete"), danger: true }))) return;
  try {
    const { notices } = await del(`/api/notebooks/${notebook.id}`);
    toast([t("notebook.deleted", params), ...notices].join(" "));
    app.set({ notebook: null });
    await loadNotebooks();
  } catch (error) {
    toastError(error);
  }
}
