// A picture as the page holds it: the file for the classifier, and a small version for the many
// questions about attention, so that each of them is a matter of milliseconds.
import { $ } from "./view.js";

const kSide = 448;
const kLargestFile = 20 * 2 ** 20;

function shrunk(bitmap, side) {
  const factor = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * factor));
  canvas.height = Math.max(1, Math.round(bitmap.height * factor));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}

export async function loadPicture(file, name) {
  if (file.size > kLargestFile) {
    const size = (file.size / 2 ** 20).toFixed(1);
    throw new Error(`'${name}' has ${size} MiB; the server takes up to 20. Choose a smaller picture.`);
  }
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);  // upright, as the server makes it
  } catch {
    throw new Error(`'${name}' is not a picture this page can read. Choose a JPEG, PNG or WebP file.`);
  }
  const small = shrunk(bitmap, kSide);
  const isSmall = bitmap.width <= kSide && bitmap.height <= kSide;
  return {
    name, file, shown: shrunk(bitmap, 1024), width: small.width, height: small.height,
    small: isSmall ? file : await new Promise((done) => small.toBlob(done, "image/png")),
    answers: new Map(),  // by size, stage and patch
  };
}

// Files that are chosen or dropped; `take([file…])` for each time.
export function listenToFiles(take) {
  $("file").addEventListener("change", () => {
    take([...$("file").files]);
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
    take([...event.dataTransfer.files]);
  });
}
