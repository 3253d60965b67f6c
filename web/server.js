// The server's API. Whatever goes wrong becomes an Error whose message can be shown.

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is `soft serve` still running?");
  }
  const json = await response.json().catch(() => null);
  if (response.ok && json) return json;
  const reason = json?.error?.message ?? `status ${response.status}`;
  throw new Error(`The server refused: ${reason}.`);
}

const post = (path, parameters, blob) => ask(`${path}?${new URLSearchParams(parameters)}`, {
  method: "POST", body: blob, headers: { "Content-Type": blob.type || "application/octet-stream" },
});

// The parameter that names a model out of several; a model without a name is the only one.
export const boxOf = ({ box }) => box ? { box } : {};

export const model = (box) => ask(`v1/model?${new URLSearchParams(boxOf({ box }))}`);
export const classify = (blob, parameters) => post("v1/classify", parameters, blob);
export const attend = (blob, query) => post("v1/attend", query, blob);
