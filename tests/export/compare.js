// Runs an exported model in ONNX Runtime and compares its logits with ours.
// node compare.js MODEL.onnx INPUT.npy LOGITS.npy  prints the largest difference as a share of the largest logit.
const fs = require('fs');
const ort = require('onnxruntime-node');

// A float32 .npy file as `soft` writes it.
function readArray(path) {
  const bytes = fs.readFileSync(path);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, start);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(',').filter((side) => side.trim()).map(Number);
  const copy = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
  return {shape, data: new Float32Array(copy)};
}

async function main([model, inputFile, logitsFile]) {
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 1});
  const input = readArray(inputFile);
  const wanted = readArray(logitsFile);
  const tensor = new ort.Tensor('float32', input.data, input.shape);
  const {logits} = await session.run({pictures: tensor});
  if (logits.dims.join() !== wanted.shape.join()) throw new Error(`shape ${logits.dims}, not ${wanted.shape}`);
  let difference = 0;
  let largest = 0;
  wanted.data.forEach((value, i) => {
    const error = Math.abs(value - logits.data[i]);
    difference = error <= difference ? difference : error;  // a NaN stays
    largest = Math.max(largest, Math.abs(value));
  });
  console.log((difference / largest).toExponential(1));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`compare: ${error.message}`);
  process.exit(1);
});
