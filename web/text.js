// The page of a model of texts: a box to try it.
import * as server from "./server.js";
import { $, complain, showClasses } from "./view.js";

const kShown = 5;

async function classify() {
  complain("");
  try {
    const text = new Blob([$("text").value], { type: "text/plain" });
    const { top, tokens, cut, cost } = await server.classify(text, kShown);
    showClasses(top);
    $("status").textContent =
      `${tokens} tokens in ${cost.model_ms.toFixed(0)} ms${cut ? "; what follows them was cut" : ""}.`;
  } catch (error) {
    complain(error.message);
  }
}

async function begin() {
  try {
    const model = await server.model();
    const names = model.class_names;
    $("model-line").textContent = `${model.name} · ${model.attention} attention · reads ` +
      `${model.length} tokens at the most · on the CPU`;
    $("known").textContent = `It knows ${names.length} classes and nothing else: ${names.join(", ")}.`;
  } catch (error) {
    complain(error.message);
  }
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  classify();
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
begin();
