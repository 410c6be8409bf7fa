// @ts-check
/** What can be done with notebooks beside opening them; fetched when it is first chosen. */
import "./strings/later.js";
import { del, patch, post } from "./api.js";
import { t } from "./i18n.js";
import { loadNotebooks, notebookName, openNotebook } from "./notebooks.js";
import { app } from "./state.js";
import { askDialog, confirmDialog } from "./ui/dialog.js";
import { toast, toastError } from "./ui/toast.js";

const NAME_LIMIT = 200;

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
    save: (name) => changeNotebook({ name: name.slice(0, NAME_LIMIT) }),
  });
}

/** Change the open notebook: {name?, mode?}. Throws ApiError. */
export async function changeNotebook(wanted) {
  const changed = await patch(`/api/notebooks/${app.get().notebook.id}`, wanted);
  app.set(({ notebook, notebooks }) => ({
    notebook: notebook?.id === changed.id ? changed : notebook,
    notebooks: notebooks.map((one) => (one.id === changed.id ? changed : one)),
  }));
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
