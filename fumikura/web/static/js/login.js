// @ts-check
import "./strings/common.js";
import "./strings/later.js";
import { post } from "./api.js";
import { t } from "./i18n.js";
import { remember } from "./state.js";

const part = (id) => /** @type {any} */ (document.getElementById(id));

for (const id of ["title", "text"]) part(id).textContent = t(`login.${id}`);
part("label").textContent = t("login.token");
part("enter").textContent = t("login.enter");
document.title = `${t("login.title")} – ${t("title")}`;

part("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  part("error").textContent = "";
  part("enter").disabled = true;
  part("enter").textContent = t("login.busy");
  try {
    await post("/api/login", { token: part("token").value });
    remember("signed_in", "yes");
    location.replace(`/${location.hash}`);
  } catch (error) {
    part("error").textContent = [error.message, error.hint].filter(Boolean).join(" ");
    part("enter").disabled = false;
    part("enter").textContent = t("login.enter");
    part("token").select();
  }
});
