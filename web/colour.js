// Colour scales that are even to the eye: lightness runs linearly in OKLCH (Ottosson 2020).

function srgb([lightness, chroma, hue]) {
  const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
  ];
  return linear.map((x) => {
    const clipped = Math.min(1, Math.max(0, x));
    return 255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055);
  });
}

// t in [0, 1]: dark violet, blue, green, yellow.
const sequential = (t) => [0.25 + 0.68 * t, 0.115 - 0.2 * t * (1 - t) * (1 - t) + 0.06 * t * t, 302 - 197 * t];
// t in [-1, 1]: blue below zero, nearly white at zero, red above.
const diverging = (t) => [0.96 - 0.46 * Math.abs(t), 0.2 * Math.abs(t) ** 0.9, t < 0 ? 255 : 28];

const tables = new Map();
function table(name, colour, low) {
  if (!tables.has(name)) {
    tables.set(name, Array.from({ length: 256 }, (_, i) => srgb(colour(low + (1 - low) * i / 255))));
  }
  return tables.get(name);
}

// The scale for these values: sequential where none is negative, otherwise diverging around zero.
// More contrast leaves the extreme 2 % to the ends of the scale, since a patch often looks at one spot
// far more than at anything else.
export function scaleOf(values, contrast) {
  const sorted = Float64Array.from(values).sort();
  const least = sorted[0], most = sorted[sorted.length - 1];
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  let low = contrast ? at(0.02) : 0, high = contrast ? at(0.98) : most;
  const negative = least < 0;
  if (negative) {
    high = Math.max(Math.abs(contrast ? low : least), Math.abs(high));
    low = -high;
  }
  if (high <= low) [low, high] = [Math.min(0, least), Math.max(most, 1e-30)];
  const colours = negative ? table("diverging", diverging, -1) : table("sequential", sequential, 0);
  const index = (value) => Math.round(255 * Math.min(1, Math.max(0, (value - low) / (high - low))));
  return {
    low, high, cutBelow: least < low, cutAbove: most > high, colour: (value) => colours[index(value)],
  };
}

// Paints values [height, width] into a canvas of that many pixels.
export function paintMap(canvas, values, [height, width], scale) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  values.forEach((value, i) => {
    const [red, green, blue] = scale.colour(value);
    image.data.set([red, green, blue, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
}

export function paintLegend(canvas, scale) {
  const steps = Array.from({ length: canvas.width },
    (_, i) => scale.low + (scale.high - scale.low) * i / (canvas.width - 1));
  const rows = Array.from({ length: canvas.height }, () => steps).flat();
  paintMap(canvas, rows, [canvas.height, canvas.width], scale);
}
