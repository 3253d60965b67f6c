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

export const model = () => ask("v1/model");
export const classify = (blob, top) => post("v1/classify", { top }, blob);
export const attend = (blob, query) => post("v1/attend", query, blob);
