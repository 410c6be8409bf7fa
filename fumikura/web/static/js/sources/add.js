// @ts-check
import { inNotebook } from "../api.js";
import { t } from "../i18n.js";
import { fetchedWithStyle } from "../later.js";
import { Icon } from "../ui/icons.js";
import { Menu } from "../ui/menu.js";
import { html, useRef } from "../vendor.js";
import { look, sources } from "./progress.js";
import { sendFiles, whenArrived } from "./uploads.js";

// Shown at once in the place of the upload, not only after the next look; one that was on its way may know them already.
function arrived(jobs, path = inNotebook("/sources")) {
  const isNew = (job) => !sources.get().jobs.some((known) => known.job_id === job.job_id);
  if (path === inNotebook("/sources")) sources.set((now) => ({ jobs: [...now.jobs, ...jobs.filter(isNew)] }));
  look();
}

whenArrived(arrived);

/** The button that adds files, pasted text or an address. */
export function AddButton() {
  const input = useRef(null);
  const entries = [
    { label: t("add.files"), icon: "file", onSelect: () => input.current.click() },
    { label: t("add.text"), icon: "text", onSelect: () => inDialog("addText") },
    { label: t("add.url"), icon: "link", onSelect: () => inDialog("addUrl") },
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

async function inDialog(name) {
  const dialogs = await fetchedWithStyle(() => import("./add_dialogs.js"));
  dialogs?.[name](arrived);
}
