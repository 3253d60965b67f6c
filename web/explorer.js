// The explorer: choose a picture, point at a patch, see where it looks.
import { examplesOf, offerExamples, offerModels, openingSize } from "./models.js";
import { listenToFiles, loadPicture } from "./picture.js";
import * as server from "./server.js";
import { listenToTheme } from "./theme.js";
import {
  $, complain, drawMaps, drawOverlay, fill, markQuery, showClasses, showCost, showFacts, showPicture,
  showProbe, showShare,
} from "./view.js";

const kMostAnswers = 400;  // kept for a picture, so that going back costs nothing

const kMiddle = { u: 0.5, v: 0.5 };

const state = {
  model: null,
  chosen: false,              // somebody chose stage, layer or head; until then the server does
  picture: null,
  point: kMiddle,             // the query, as a share of the picture's width and height
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

// All layers and heads of a stage, for the patch at (u, v).
async function ask(picture, stage, { u, v }) {
  const began = performance.now();
  const answer = await server.attend(picture.small, {
    x: Math.min(picture.width - 1, Math.floor(u * picture.width)),
    y: Math.min(picture.height - 1, Math.floor(v * picture.height)),
    stage, size: $("size").value, layer: "all", head: "all", ...server.boxOf(state.model),
  });
  answer.milliseconds = performance.now() - began;
  return answer;
}

function remember(picture, key, patch, answer) {
  answer.patch = patch;
  if (picture.answers.size >= kMostAnswers) picture.answers.clear();
  picture.answers.set(key, answer);
  return answer;
}

const keyOf = ({ column, row }) => [$("size").value, $("stage").value, column, row].join();

async function answerFor(picture) {
  const [rows, columns] = grid();
  const patch = patchAt(state.point), key = keyOf(patch);
  if (picture.answers.has(key)) return picture.answers.get(key);
  const middle = { u: (patch.column + 0.5) / columns, v: (patch.row + 0.5) / rows };
  return remember(picture, key, patch, await ask(picture, $("stage").value, middle));
}

// Until somebody chooses, the head is shown that adds most.
async function takeBest(picture) {
  const answer = await ask(picture, "best", kMiddle);
  if (picture !== state.picture || state.chosen) return;
  const { stage, layer, head } = answer.best;
  $("stage").value = String(stage);
  fillLayersAndHeads(layer, head);
  remember(picture, keyOf(patchAt(kMiddle)), patchAt(kMiddle), answer);
  markQuery(patchAt(state.point), grid(), state.held);
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
  Object.assign(state, { picture, answer: null, held: false, point: kMiddle });
  showPicture(picture);
  markQuery(patchAt(state.point), grid(), false);
  const { top } = await server.classify(picture.file, { top: 5, ...server.boxOf(state.model) });
  if (picture !== state.picture) return;
  showClasses(top);
  if (!state.chosen) await takeBest(picture);
  await look();
}

async function openExample({ name, file }) {
  const response = await fetch(file);
  await open(await response.blob(), name);
}

// ---- Drawing the answer

const presentRow = () => state.answer?.rows.find(
  ({ layer, head }) => layer === chosen("layer") && head === chosen("head"));

function show() {
  const present = presentRow();
  if (!present) return;
  markQuery(patchAt(state.point), grid(), state.held);
  drawOverlay(present.row, state.answer.grid);
  showShare(present);
  drawMaps(state.answer, present, (layer, head) => {
    state.chosen = true;
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
    showProbe(event, presentRow()?.row[row * grid()[1] + column]);
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

const upTo = (n) => Array.from({ length: n }, (_, i) => [i + 1, String(i + 1)]);

function fillLayersAndHeads(layer, head) {
  const { layers, heads } = stageFacts();
  fill("layer", upTo(layers), layer ?? layers);
  fill("head", upTo(heads), head ?? 1);
}

// Another stage or size has another grid: what is shown no longer fits.
function changeGrid() {
  state.answer = null;
  markQuery(patchAt(state.point), grid(), state.held);
  guarded(look);
}

function listenToSettings() {
  $("stage").addEventListener("change", () => {
    state.chosen = true;
    fillLayersAndHeads();
    changeGrid();
  });
  $("size").addEventListener("change", changeGrid);
  for (const id of ["layer", "head"]) {
    $(id).addEventListener("change", () => {
      state.chosen = true;
      show();
    });
  }
  for (const id of ["contrast", "smooth"]) $(id).addEventListener("change", show);
  $("opacity").addEventListener("input", show);
}

// Whatever was shown belongs to the model before.
function takeModel(model) {
  Object.assign(state, { model, chosen: false, picture: null, answer: null });
  fill("stage", upTo(model.stages.length), 1);
  fill("size", model.sizes.map(({ size }) => [size, `${size}²`]), openingSize(model));
  fillLayersAndHeads();
  showFacts(model);
  offerModels(model, (box) => guarded(() => changeModel(box)));
  offerExamples(model, (example) => guarded(() => openExample(example)));
}

async function changeModel(box) {
  if (box === state.model.box) return;
  takeModel(await server.model(box));
  await openExample(examplesOf(state.model)[0]);
}

async function start() {
  listenToTheme();
  takeModel(await server.model());
  listenToPointer();
  listenToKeys();
  listenToFiles(takeFile);
  listenToSettings();
}

guarded(start);
