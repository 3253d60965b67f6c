// The models that the server offers, each with pictures of its own kind.
import { $, element } from "./view.js";

const photos = ["cat", "rocket", "coffee", "astronaut"].map((name) => ({ name, file: `examples/${name}.jpg` }));
// Drawn by scripts/page_examples; each is named for its answer.
const cues = ["disc", "square", "triangle", "cross", "diamond"].map(
  (name) => ({ name: `cue: ${name}`, file: `examples/cue_${name}.png` }));

export const examplesOf = ({ box }) => box === "cue" ? cues : photos;

// A pyramid's maps are finer at twice its own size. Drawn pictures are as fine as a flat model is.
export const openingSize = ({ stages, sizes }) => stages.length === 1 ? sizes[0].size
  : (sizes.find(({ size }) => size >= 64) ?? sizes[sizes.length - 1]).size;

// A button for each of several models; `choose(name)` when one is pressed.
export function offerModels({ box, boxes }, choose) {
  $("boxes").hidden = boxes.length < 2;
  $("boxes").replaceChildren(...boxes.map(({ name, about }) => {
    const button = element("button", { type: "button", title: about, textContent: name });
    button.dataset.name = name;
    button.setAttribute("aria-pressed", String(name === box));
    button.addEventListener("click", () => choose(name));
    return button;
  }));
}

// A button for each example; `choose(example)` when one is pressed.
export function offerExamples(model, choose) {
  $("examples").replaceChildren(...examplesOf(model).map((example) => {
    const picture = element("img", { src: example.file, alt: example.name });
    const button = element("button", { type: "button", title: example.name }, picture);
    button.dataset.name = example.name;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => choose(example));
    return button;
  }));
}
