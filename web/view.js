// What the page draws: facts, classes, the map over the picture and the small maps beside it.
import { paintLegend, paintMap, scaleOf } from "./colour.js";

export const $ = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const counted = (n) => n >= 1e9 ? `${(n / 1e9).toFixed(2)} G` : `${(n / 1e6).toFixed(2)} M`;
const megabytes = (n) => `${(n / 2 ** 20).toFixed(0)} MB`;

// Two digits, small numbers as 3.5·10⁻⁶.
export function short(x) {
  if (x === 0 || Math.abs(x) >= 1e-3) return String(Number(x.toPrecision(2)));
  const [digits, exponent] = x.toExponential(1).split("e");
  return `${digits}·10${exponent.replace("+", "").replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)])}`;
}

export function complain(message) {
  $("error").textContent = message;
  $("error").hidden = !message;
}

// [[value, text]…] as the options of a <select>.
export function fill(id, entries, value) {
  $(id).replaceChildren(
    ...entries.map(([entry, text]) => element("option", { value: entry, textContent: text })));
  $(id).value = String(value);
}

export function showFacts(model) {
  const kinds = [...new Set(model.stages.map((stage) => stage.attention))].join(" and ");
  $("model-line").textContent =
    `${model.name} · ${counted(model.params)} parameters · ${kinds} attention · on the CPU`;
  const names = model.class_names;
  const rows = [
    ["Model", `${model.name} (${model.family})`],
    ["Parameters", model.params.toLocaleString("en")],
    ["Multiply-adds", `${counted(model.macs_with_inverse)} at ${model.image_size}²`],
    ["Weights in memory", megabytes(model.weight_bytes)],
    ...model.stages.map(({ stage, layers, heads, channels, grid, attention }) => [`Stage ${stage}`,
      `layers ${layers}, heads ${heads}, channels ${channels}, ${grid.join("×")} patches, ${attention}`]),
    ["Classes", String(model.classes)],
  ];
  $("known").textContent = names.length > 0 && names.length <= 20
    ? `It knows ${names.length} classes and nothing else: ${names.join(", ")}.` : "";
  $("question").textContent = model.boxes.find(({ name }) => name === model.box)?.about ?? "";
  $("facts").replaceChildren(...rows.map(([name, value]) => element("tr", {},
    element("th", { textContent: name, scope: "row" }), element("td", { textContent: value }))));
}

export function showPicture(picture) {
  const photo = $("photo");
  photo.width = picture.shown.width;
  photo.height = picture.shown.height;
  photo.getContext("2d").drawImage(picture.shown, 0, 0);
  $("overlay").getContext("2d").clearRect(0, 0, $("overlay").width, $("overlay").height);
  const ratio = photo.width / photo.height;
  $("picture").style.aspectRatio = String(ratio);
  $("picture").style.maxWidth = `${62 * ratio}vh`;  // a tall picture need not be scrolled
  $("frame").classList.remove("empty");
  $("picture").hidden = false;
  for (const button of $("examples").children) {
    button.setAttribute("aria-pressed", String(button.dataset.name === picture.name));
  }
}

export function showClasses(top) {
  $("classes").replaceChildren(...top.map(({ name, p }) => {
    const bar = element("span", { className: "bar" });
    bar.style.width = `${100 * p}%`;
    return element("li", {}, bar, element("span", { textContent: name }),
      element("span", { textContent: `${(100 * p).toFixed(1)} %` }));
  }));
}

export function markQuery({ column, row }, [rows, columns], held) {
  const { style, classList } = $("query");
  style.left = `${100 * column / columns}%`;
  style.top = `${100 * row / rows}%`;
  style.width = `${100 / columns}%`;
  style.height = `${100 / rows}%`;
  classList.toggle("held", held);
}

function showLegend(scale) {
  paintLegend($("legend-bar"), scale);
  const low = short(scale.low), high = short(scale.high);
  $("legend").hidden = false;
  $("legend-low").textContent = scale.cutBelow ? `≤ ${low}` : low;
  $("legend-high").textContent = scale.cutAbove ? `≥ ${high}` : high;
  $("legend-bar").setAttribute("aria-label", `Colour scale from ${low} to ${high}`);
}

export function drawOverlay(values, grid) {
  const scale = scaleOf(values, $("contrast").checked);
  const map = document.createElement("canvas");
  paintMap(map, values, grid, scale);
  const overlay = $("overlay");
  overlay.width = $("photo").width;
  overlay.height = $("photo").height;
  const context = overlay.getContext("2d");
  context.imageSmoothingEnabled = $("smooth").checked;
  context.imageSmoothingQuality = "high";
  context.drawImage(map, 0, 0, overlay.width, overlay.height);
  overlay.style.opacity = Number($("opacity").value) / 100;
  showLegend(scale);
}

// What the head adds beside what its values hold, and a warning where that is next to nothing.
export function showShare({ stage, layer, head, share, layer_share, idle }) {
  const text = (x) => x === null ? "unknown" : short(x);
  $("share").hidden = false;
  $("share-value").textContent = `Share ${text(share)}`;
  $("share-place").textContent =
    `stage ${stage}, layer ${layer}, head ${head} (the whole layer ${text(layer_share)})`;
  $("idle").hidden = !idle;
  $("idle").textContent = idle ? "This head idles: what it adds to the picture's patches is " +
    `${text(share)} of what its values hold, so its map shows next to nothing.` : "";
}

// One small map for each layer and head; `choose(layer, head)` when one is pressed.
export function drawMaps({ rows, grid }, present, choose) {
  const focused = [...$("maps").children].indexOf(document.activeElement);
  $("maps").replaceChildren(...rows.map(({ layer, head, row, share, idle }) => {
    const canvas = document.createElement("canvas");
    paintMap(canvas, row, grid, scaleOf(row, $("contrast").checked));
    canvas.style.aspectRatio = String($("photo").width / $("photo").height);
    const button = element("button", { type: "button", className: idle ? "idle" : "" }, canvas,
      `layer ${layer} · head ${head}`,
      element("span", { textContent: share === null ? "" : `share ${short(share)}` }));
    button.setAttribute("aria-pressed", String(layer === present.layer && head === present.head));
    button.addEventListener("click", () => choose(layer, head));
    return button;
  }));
  $("maps-card").hidden = false;
  $("maps").children[focused]?.focus();
}

export function showCost({ cost, grid: [rows, columns], milliseconds }, { column, row }) {
  $("status").textContent = `Patch ${column + 1}, ${row + 1} of ${columns}×${rows} · ` +
    `${milliseconds.toFixed(0)} ms there and back, ${cost.model_ms.toFixed(1)} ms in the model · ` +
    `server ${megabytes(cost.memory_bytes)}`;
}

// The value under the pointer; nothing to show without one.
export function showProbe(event, value) {
  const probe = $("probe");
  probe.hidden = value === undefined || event.pointerType === "touch";
  if (probe.hidden) return;
  const box = $("picture").getBoundingClientRect();
  probe.textContent = short(value);
  probe.style.left = `${Math.min(event.clientX - box.left, box.width - 90)}px`;
  probe.style.top = `${Math.min(event.clientY - box.top, box.height - 44)}px`;
}
