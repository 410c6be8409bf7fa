// @ts-check
import { get } from "./api.js";
import { t } from "./i18n.js";
import { app, remember, remembered } from "./state.js";
import { toastError } from "./ui/toast.js";

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
