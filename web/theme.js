// The light and the dark look; a choice is remembered.
import { $ } from "./view.js";

export function listenToTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = localStorage.getItem("theme") ?? "";
  $("theme").addEventListener("click", () => {
    const dark = dataset.theme ? dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", dataset.theme);
  });
}
