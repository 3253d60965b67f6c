// The explorer: choose a picture, point at a patch, see where it looks.
import { loadPicture } from "./picture.js";
import * as server from "./server.js";
import {
  $, complain, drawMaps, drawOverlay, element, fill, markQuery, showClasses, showCost, showFacts,
  showPicture, showProbe,
} from "./view.js";

const kExamples = ["cat", "rocket", "coffee", "astronaut"];
const kMostAnswers = 400;  // kept for a picture, so that going back costs nothing

const state = {
  model: null,
  picture: null,
  point: { u: 0.5, v: 0.5 },  // the query, as a share of the picture's width and height
  held: false,                // a click holds the query; otherwise it follows the pointer
  answer: null,               // the server's, for the patch shown
  busy: false, again: false,  // one question at a time; the latest one counts
};

const chosen = (id) => Number($(id).value);
const stageFacts = () => state.model.stages[chosen("stage") - 1];

async function guarded(step) {
  try {
    await step();
  } catch (error) {
    complain(error.message);
  }
}

// ---- The grid and the query on it

// Tokens per side at the chosen input size.
function grid() {
  const factor = chosen("size") / state.model.image_size;
  return stageFacts().grid.map((side) => Math.ceil(side * factor));
}

function patchAt({ u, v }) {
  const [rows, columns] = grid();
  const within = (x, count) => Math.min(count - 1, Math.max(0, Math.floor(x * count)));
  return { column: within(u, columns), row: within(v, rows) };
}

function moveQuery(point) {
  const before = patchAt(state.point), after = patchAt(point);
  state.point = point;
  if (before.column === after.column && before.row === after.row) return;
  markQuery(after, grid(), state.held);
  guarded(look);
}

function stepQuery(columns, rows) {
  const [height, width] = grid();
  const { column, row } = patchAt(state.point);
  const within = (x) => Math.min(1, Math.max(0, x));
  state.held = true;
  moveQuery({ u: within((column + columns + 0.5) / width), v: within((row + rows + 0.5) / height) });
  markQuery(patchAt(state.point), grid(), state.held);
}

// ---- Questions to the server

async function answerFor(picture) {
  const [rows, columns] = grid();
  const patch = patchAt(state.point);
  const key = [$("size").value, $("stage").value, patch.column, patch.row].join();
  if (picture.answers.has(key)) return picture.answers.get(key);
  const began = performance.now();
  const answer = await server.attend(picture.small, {
    x: Math.floor((patch.column + 0.5) * picture.width / columns),
    y: Math.floor((patch.row + 0.5) * picture.height / rows),
    stage: $("stage").value, size: $("size").value, layer: "all", head: "all",
  });
  answer.milliseconds = performance.now() - began;
  answer.patch = patch;
  if (picture.answers.size >= kMostAnswers) picture.answers.clear();
  picture.answers.set(key, answer);
  return answer;
}

async function look() {
  if (!state.picture) return;
  state.again = state.busy;
  if (state.busy) return;
  state.busy = true;
  try {
    do {
      state.again = false;
      const { picture } = state;
      const answer = await answerFor(picture);
      if (picture === state.picture && !state.again) state.answer = answer;
    } while (state.again);
  } finally {
    state.busy = false;
  }
  complain("");
  show();
}

async function open(file, name) {
  complain("");
  const picture = await loadPicture(file, name);
  Object.assign(state, { picture, answer: null, held: false, point: { u: 0.5, v: 0.5 } });
  showPicture(picture);
  markQuery(patchAt(state.point), grid(), false);
  const { top } = await server.classify(picture.file, 5);
  if (picture !== state.picture) return;
  showClasses(top);
  await look();
}

async function openExample(name) {
  const response = await fetch(`examples/${name}.jpg`);
  await open(await response.blob(), name);
}

// ---- Drawing the answer

const presentRow = () => state.answer?.rows.find(
  ({ layer, head }) => layer === chosen("layer") && head === chosen("head"))?.row;

function show() {
  const values = presentRow();
  if (!values) return;
  markQuery(patchAt(state.point), grid(), state.held);
  drawOverlay(values, state.answer.grid);
  drawMaps(state.answer, { layer: chosen("layer"), head: chosen("head") }, (layer, head) => {
    $("layer").value = String(layer);
    $("head").value = String(head);
    show();
  });
  showCost(state.answer, state.answer.patch);
}

// ---- Pointer, keys, files, settings

function pointUnder(event) {
  const box = $("picture").getBoundingClientRect();
  return { u: (event.clientX - box.left) / box.width, v: (event.clientY - box.top) / box.height };
}

function listenToPointer() {
  $("picture").addEventListener("pointermove", (event) => {
    const point = pointUnder(event);
    if (!state.held && event.pointerType !== "touch") moveQuery(point);
    const { column, row } = patchAt(point);
    showProbe(event, presentRow()?.[row * grid()[1] + column]);
  });
  $("picture").addEventListener("pointerleave", () => { $("probe").hidden = true; });
  $("picture").addEventListener("click", (event) => {
    state.held = true;
    moveQuery(pointUnder(event));
    markQuery(patchAt(state.point), grid(), true);
  });
}

function cycle(id) {
  const select = $(id);
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  select.dispatchEvent(new Event("change"));
}

function turnOpacity(by) {
  $("opacity").value = String(chosen("opacity") + by);
  show();
}

function letGo() {
  state.held = false;
  markQuery(patchAt(state.point), grid(), false);
}

const keys = {
  arrowleft: () => stepQuery(-1, 0),
  arrowright: () => stepQuery(1, 0),
  arrowup: () => stepQuery(0, -1),
  arrowdown: () => stepQuery(0, 1),
  escape: letGo,
  s: () => cycle("stage"),
  l: () => cycle("layer"),
  h: () => cycle("head"),
  "+": () => turnOpacity(10),
  "-": () => turnOpacity(-10),
};

function listenToKeys() {
  $("picture").addEventListener("keydown", (event) => {
    const action = keys[event.key.toLowerCase()];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}

function takeFile(files) {
  if (files.length > 0) guarded(() => open(files[0], files[0].name));
}

function listenToFiles() {
  $("file").addEventListener("change", () => {
    takeFile([...$("file").files]);
    $("file").value = "";  // so that the same file may be chosen again
  });
  const over = (event, is) => {
    event.preventDefault();
    $("frame").classList.toggle("over", is);
  };
  document.addEventListener("dragover", (event) => over(event, true));
  document.addEventListener("dragleave", (event) => over(event, false));
  document.addEventListener("drop", (event) => {
    over(event, false);
    takeFile([...event.dataTransfer.files]);
  });
}

function offerExamples() {
  $("examples").replaceChildren(...kExamples.map((name) => {
    const picture = element("img", { src: `examples/${name}.jpg`, alt: name });
    const button = element("button", { type: "button", title: name }, picture);
    button.dataset.name = name;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => guarded(() => openExample(name)));
    return button;
  }));
}

const upTo = (n) => Array.from({ length: n }, (_, i) => [i + 1, String(i + 1)]);

function fillLayersAndHeads() {
  const { layers, heads } = stageFacts();
  fill("layer", upTo(layers), layers);
  fill("head", upTo(heads), 1);
}

// Another stage or size has another grid: what is shown no longer fits.
function changeGrid() {
  state.answer = null;
  markQuery(patchAt(state.point), grid(), state.held);
  guarded(look);
}

function listenToSettings() {
  $("stage").addEventListener("change", () => {
    fillLayersAndHeads();
    changeGrid();
  });
  $("size").addEventListener("change", changeGrid);
  for (const id of ["layer", "head", "contrast", "smooth"]) $(id).addEventListener("change", show);
  $("opacity").addEventListener("input", show);
}

function listenToTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = localStorage.getItem("theme") ?? "";
  $("theme").addEventListener("click", () => {
    const dark = dataset.theme ? dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", dataset.theme);
  });
}

async function start() {
  listenToTheme();
  state.model = await server.model();
  const { stages, sizes } = state.model;
  fill("stage", upTo(stages.length), Math.min(2, stages.length));
  fill("size", sizes.map(({ size }) => [size, `${size}²`]),
    (sizes.find(({ size }) => size >= 64) ?? sizes[sizes.length - 1]).size);
  fillLayersAndHeads();
  showFacts(state.model);
  listenToPointer();
  listenToKeys();
  listenToFiles();
  listenToSettings();
  offerExamples();
}

guarded(start);
