// Drives the explorer page in a real browser against a real server, and keeps screenshots.
// Usage: node explorer_test.js URL CHROMIUM FOLDER_FOR_SCREENSHOTS PHOTOS
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [url, executablePath, shots, photos] = process.argv.slice(2);

const tests = {
  async "loads and tells about the model"(page) {
    await page.getByText("soft-nano ·").waitFor();
    await page.getByText("About this model").click();
    await page.getByText("1,290,759").waitFor();
    assert.equal(await page.locator("#examples button").count(), 4);
  },

  async "names the classes of a chosen picture"(page) {
    await choose(page, `${photos}/cat_chelsea.png`);
    const classes = page.locator("#classes li");
    assert.equal(await classes.count(), 5);
    assert.match(await classes.first().innerText(), /cat\s+\d+\.\d %/);
  },

  async "shows where a clicked patch looks"(page) {
    await choose(page, `${photos}/cat_chelsea.png`);
    const before = await overlay(page);
    await clickAt(page, 0.2, 0.3);
    await changed(page, before);
    assert.match(await page.locator("#status").innerText(), /Patch \d+, \d+ of \d+×\d+ · \d+ ms/);
    assert.ok(await page.locator("#maps button").count() > 0);
    assert.ok(await page.locator("#query.held").isVisible());
  },

  async "opens on the head that adds most, and says what it adds"(page) {
    const asked = page.waitForResponse((response) => response.url().includes("stage=best"));
    await example(page, "cat");
    const { best, rows } = await (await asked).json();
    for (const control of ["stage", "layer", "head"]) {
      assert.equal(await page.locator(`#${control}`).inputValue(), String(best[control]));
    }
    const shown = rows.find(({ layer, head }) => layer === best.layer && head === best.head);
    assert.match(await page.locator("#share").innerText(),
      new RegExp(`^Share \\S+ stage ${best.stage}, layer ${best.layer}, head ${best.head}`));
    assert.equal(await page.locator("#idle").isVisible(), shown.idle);
  },

  async "warns of a head that idles, and only of such"(page) {
    let share = 2e-6;
    await page.route("**/v1/attend*", async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      for (const row of json.rows) Object.assign(row, { share, idle: share < 1e-3 });
      await route.fulfill({ response, json });
    });
    await example(page, "cat");
    await page.getByText("This head idles: what it adds to the picture's patches is 2.0·10⁻⁶").waitFor();
    assert.ok(await page.locator("#maps button.idle").count() > 0);
    await page.screenshot({ path: `${shots}/idle.png`, fullPage: true });
    share = 0.5;
    await example(page, "rocket");
    await page.getByText("Share 0.5", { exact: true }).waitFor();
    assert.ok(await page.locator("#idle").isHidden());
  },

  async "keeps the layer that somebody chose"(page) {
    await example(page, "cat");
    await page.locator("#stage").selectOption("2");
    await page.locator("#layer").selectOption("1");
    await example(page, "rocket");
    assert.equal(await page.locator("#stage").inputValue(), "2");
    assert.equal(await page.locator("#layer").inputValue(), "1");
  },

  async "offers both models, each with its examples"(page) {
    assert.equal(await page.locator("#boxes button").count(), 2);
    await page.locator('#boxes button[data-name="cue"]').click();
    await page.locator('#examples button[data-name="cue: disc"][aria-pressed="true"]').waitFor();
    await settled(page);
    assert.equal(await page.locator("#examples button").count(), 5);
    assert.equal(await page.locator("#classes li").count(), 5);
    assert.equal(await page.locator("#stage option").count(), 1);
    assert.equal(await page.locator("#size").inputValue(), "32");
    await page.getByText("Which shape has the colour of the square in the middle?").waitFor();
    await page.getByText("of 8×8").waitFor();
    const before = await overlay(page);
    await example(page, "cue: cross");
    await clickAt(page, 0.2, 0.2);
    await changed(page, before);
    await page.locator('#boxes button[data-name="cifar10"]').click();
    await page.locator('#examples button[data-name="cat"][aria-pressed="true"]').waitFor();
    assert.equal(await page.locator("#examples button").count(), 4);
    assert.ok(await page.locator("#stage option").count() > 1);
  },

  async "shows on a click on the cue the object that it means"(page) {
    const asked = page.waitForResponse(  // for the patch in the middle, where the page opens
      (response) => response.url().includes("box=cue") && response.url().includes("stage=best"));
    await page.locator('#boxes button[data-name="cue"]').click();
    const { rows } = await (await asked).json();
    await page.locator('#examples button[data-name="cue: disc"][aria-pressed="true"]').waitFor();
    await settled(page);
    const opened = await overlay(page);
    await clickAt(page, 0.1, 0.9);
    await changed(page, opened);
    const before = await overlay(page);
    await clickAt(page, 0.53, 0.53);
    await changed(page, before);
    assert.match(await page.locator("#classes li").first().innerText(), /disc/);
    const [layer, head] = [await page.locator("#layer").inputValue(), await page.locator("#head").inputValue()];
    const { row } = rows.find((map) => String(map.layer) === layer && String(map.head) === head);
    const quadrants = [0, 0, 0, 0];  // of 8×8 tokens, without the four of the cue; the disc is top left
    row.forEach((weight, token) => {
      const [y, x] = [Math.floor(token / 8), token % 8];
      const cue = [3, 4].includes(y) && [3, 4].includes(x);
      if (!cue) quadrants[2 * Math.floor(y / 4) + Math.floor(x / 4)] += weight;
    });
    assert.equal(quadrants.indexOf(Math.max(...quadrants)), 0, `weights of the quadrants: ${quadrants}`);
    await page.screenshot({ path: `${shots}/cue.png`, fullPage: true });
  },

  async "changes head, layer, stage and size"(page) {
    await example(page, "rocket");
    await page.locator("#stage").selectOption("2");
    await page.getByText("of 16×16").waitFor();  // at 64²
    for (const [control, value] of [["head", "2"], ["layer", "1"], ["stage", "3"], ["size", "96"]]) {
      const before = await overlay(page);
      await page.locator(`#${control}`).selectOption(value);
      await changed(page, before);
    }
    await page.getByText("of 12×12").waitFor();  // stage 3 at 96²
  },

  async "obeys the keyboard"(page) {
    await example(page, "coffee");
    await page.locator("#stage").selectOption("2");
    await page.getByText("of 16×16").waitFor();
    await page.locator("#picture").focus();
    const patch = () => page.locator("#query").evaluate((query) => [query.style.left, query.style.top]);
    const [left, top] = await patch();
    await page.keyboard.press("ArrowRight");
    assert.notEqual((await patch())[0], left);
    assert.equal((await patch())[1], top);
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await patch(), [left, top]);
    await page.keyboard.press("h");
    assert.equal(await page.locator("#head").inputValue(), "2");
    await page.keyboard.press("-");
    assert.equal(await page.locator("#opacity").inputValue(), "55");
  },

  async "follows the pointer until a click holds the patch"(page) {
    await example(page, "astronaut");
    const left = () => page.locator("#query").evaluate((query) => query.style.left);
    await hoverAt(page, 0.1, 0.1);
    const first = await left();
    await hoverAt(page, 0.9, 0.1);
    assert.notEqual(await left(), first);
    await clickAt(page, 0.9, 0.1);
    const held = await left();
    await hoverAt(page, 0.1, 0.9);
    assert.equal(await left(), held);
  },

  async "answers one click after another"(page) {
    await example(page, "cat");
    const times = [];
    for (let i = 0; i < 10; ++i) {
      const before = await overlay(page);
      await clickAt(page, 0.05 + 0.09 * i, 0.5);
      await changed(page, before);
      times.push(Number((await page.locator("#status").innerText()).match(/(\d+) ms there/)[1]));
    }
    console.log(`  clicks: ${times.sort((a, b) => a - b).join(", ")} ms`);
  },

  async "says what is wrong with a file that is no picture"(page) {
    const file = `${shots}/notes.txt`;
    writeFileSync(file, "no picture");
    await page.locator("#file").setInputFiles(file);
    await page.getByRole("alert").getByText("'notes.txt' is not a picture").waitFor();
    await page.screenshot({ path: `${shots}/error.png` });
    await example(page, "cat");
    assert.ok(await page.locator("#error").isHidden());
  },

  async "says that the server refused or is gone"(page) {
    await page.route("**/v1/attend*", (route) => route.fulfill({
      status: 503, contentType: "application/json", body: '{"error":{"message":"too many requests wait"}}',
    }));
    await page.locator('#examples button[data-name="cat"]').click();
    await page.getByRole("alert").getByText("too many requests wait").waitFor();
    await page.route("**/v1/attend*", (route) => route.abort());
    await page.locator('#examples button[data-name="rocket"]').click();
    await page.getByRole("alert").getByText("Is `soft serve` still running?").waitFor();
  },

  async "fits a phone"(page) {
    await page.setViewportSize({ width: 390, height: 844 });
    await example(page, "cat");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `the page is ${width} pixels wide`);
    await page.screenshot({ path: `${shots}/phone.png`, fullPage: true });
  },

  async "has a dark and a light look"(page) {
    await example(page, "cat");
    await clickAt(page, 0.42, 0.42);
    await page.waitForTimeout(300);
    for (const look of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: look });
      await page.screenshot({ path: `${shots}/${look}.png`, fullPage: true });
    }
    await page.emulateMedia({ colorScheme: "light" });
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await colour();
    await page.locator("#theme").click();
    assert.notEqual(await colour(), before);
  },

  async "names every control for those who cannot see it"(page) {
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input")]
      .filter((control) => !control.labels?.length && !control.getAttribute("aria-label") &&
        !control.innerText?.trim() && !control.querySelector("img[alt]:not([alt=''])"))
      .map((control) => control.outerHTML));
    assert.deepEqual(nameless, []);
  },
};

// ---- What the tests do over and over

async function settled(page) {
  await page.locator("#classes .bar").first().waitFor();
  await page.getByText("ms there and back").waitFor();
}

async function choose(page, file) {
  await page.locator("#file").setInputFiles(file);
  await settled(page);
}

async function example(page, name) {
  await page.locator(`#examples button[data-name="${name}"]`).click();
  await page.locator(`#examples button[data-name="${name}"][aria-pressed="true"]`).waitFor();
  await settled(page);
}

async function spot(page, u, v) {
  const box = await page.locator("#picture").boundingBox();
  return [box.x + u * box.width, box.y + v * box.height];
}
const clickAt = async (page, u, v) => page.mouse.click(...await spot(page, u, v));
const hoverAt = async (page, u, v) => page.mouse.move(...await spot(page, u, v), { steps: 3 });

const overlay = (page) => page.locator("#overlay").evaluate((canvas) => canvas.toDataURL());
const changed = (page, before) => page.waitForFunction(
  (old) => document.getElementById("overlay").toDataURL() !== old, before);

// ---- Running them

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
let failures = 0;
for (const [name, test] of Object.entries(tests)) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  page.setDefaultTimeout(20_000);
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  try {
    await page.goto(url);
    await page.locator("#examples button").first().waitFor();
    await test(page);
    assert.deepEqual(troubles, []);
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAILED  ${name}\n${error.stack}`);
    await page.screenshot({ path: `${shots}/failed_${failures}.png` });
  }
  await page.close();
}
await browser.close();
console.log(`${Object.keys(tests).length - failures} of ${Object.keys(tests).length} page tests passed`);
process.exit(failures === 0 ? 0 : 1);
