// @ts-check
/** Modules, and the style sheet of what opens on a click: fetched when they are first needed. */
import { get, onReconnect } from "./api.js";
import { t } from "./i18n.js";
import { toast, toastError } from "./ui/toast.js";

/**
 * The module of `load` (a function that imports it), or null when it cannot be fetched. A browser never fetches a module again
 * that it could not get: the page begins anew once the server can be reached, or when the person says so.
 */
export async function fetched(load) {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // a fault in the module, not on the way to it
    onReconnect(() => location.reload());
    get("/api/health").then(offerReload, toastError);
    return null;
  }
}

/** As `fetched`, for a module that shows what css/later.css has the style of: both must be there. */
export const fetchedWithStyle = (load) => fetched(async () => (await Promise.all([load(), (style ??= styleSheet())]))[0]);

let style = /** @type {Promise<unknown> | null} */ (null);

function styleSheet() {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/css/later.css" });
  return new Promise((resolve, reject) => {
    link.onload = resolve;
    link.onerror = () => reject(new TypeError(link.href)); // as an import fails
    document.head.append(link);
  });
}

const offerReload = () =>
  toast(t("error.part"), { kind: "error", ms: 60_000, action: t("error.part.reload"), onAction: () => location.reload() });
