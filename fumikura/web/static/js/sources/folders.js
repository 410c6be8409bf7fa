// @ts-check
/** Dropped folders, opened with all that lies in them; fetched when the first one is dropped. */
import "../strings/later.js";
import { t } from "../i18n.js";
import { toast } from "../ui/toast.js";

/** The files of dropped entries; what cannot be read and folders with nothing in them are named, the others go on. */
export async function filesOf(entries) {
  const unread = [];
  const found = await Promise.all(entries.map((entry) => filesIn(entry, unread)));
  const isIn = (path, entry) => path === entry.fullPath || path.startsWith(`${entry.fullPath}/`);
  const empty = entries.filter((entry, at) => !found[at].length && !unread.some((path) => isIn(path, entry)));
  say("add.drop.empty", empty.map((entry) => entry.fullPath), "plain");
  say("add.drop.unread", unread, "error");
  return found.flat();
}

function say(key, paths, kind) {
  if (paths.length) toast(t(key, { names: paths.map((path) => path.slice(1)).join(t("add.drop.and")) }), { kind, ms: 20_000 });
}

/** `unread` takes the paths of what cannot be read. */
async function filesIn(entry, unread) {
  try {
    if (!entry.isFile) return (await Promise.all((await childrenOf(entry)).map((one) => filesIn(one, unread)))).flat();
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [Object.assign(file, { path: entry.fullPath.slice(1) })]; // two folders may hold files of one name
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    unread.push(entry.fullPath);
    return [];
  }
}

async function childrenOf(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found.filter((one) => !one.name.startsWith("."));
    found.push(...some);
  }
}
