// @ts-check
import { get } from "./api.js";
import { t } from "./i18n.js";
import { app, remember, remembered } from "./state.js";
import { toast, toastError } from "./ui/toast.js";

/** The name to show; the notebook that is always there has a friendlier one than "default". */
export const notebookName = (notebook) => (notebook.name === "default" ? t("notebook.default") : notebook.name);

/** Fetch the list and open the notebook that was open last. */
export async function loadNotebooks() {
  try {
    const { notebooks } = await get("/api/notebooks");
    const { notebook: open } = app.get();
    // The tab's own choice first: two tabs may show two notebooks.
    const wanted = String(open?.id ?? remembered("notebook", "sessionStorage") ?? remembered("notebook"));
    const found = notebooks.find((one) => String(one.id) === wanted);
    if (open && !found) toast(t("notebook.gone", { name: notebookName(open) }), { ms: 12_000 });
    app.set({ notebooks, notebook: found ?? notebooks.find((one) => one.name === "default") ?? notebooks[0] });
  } catch (error) {
    toastError(error);
  }
}

/** Open a notebook of the list. */
export function openNotebook(notebook) {
  remember("notebook", String(notebook.id));
  remember("notebook", String(notebook.id), "sessionStorage");
  app.set({ notebook });
}
