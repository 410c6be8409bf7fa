// Runs before the first paint, so that the page never flashes in the other theme or language.
(function () {
  try {
    document.documentElement.dataset.theme = localStorage.getItem("fumikura.theme") || "auto";
    const kept = localStorage.getItem("fumikura.language");
    document.documentElement.lang = kept || (navigator.language.toLowerCase().startsWith("ja") ? "ja" : "en");
  } catch {
    document.documentElement.dataset.theme = "auto"; // storage switched off
  }
})();
