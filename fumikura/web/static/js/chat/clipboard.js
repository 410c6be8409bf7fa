// @ts-check
import "../strings/later.js";
import { t } from "../i18n.js";
import { toast } from "../ui/toast.js";

/** Copy, and say so. Outside of https and loopback browsers have no clipboard: there a hidden field is copied. */
export async function copyText(text, done) {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyByField(text);
    toast(done);
  } catch {
    toast(t("answer.copy_failed"), { kind: "error" });
  }
}

function copyByField(text) {
  const field = document.createElement("textarea");
  field.className = "visually-hidden";
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("the browser refused to copy");
}
