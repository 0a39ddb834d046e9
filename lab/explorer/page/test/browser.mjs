// A page in headless Chromium, used as a person uses it.
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
/** The built page: the one of the build tree that this folder lies in, or another one. */
export const explorer = process.env.EXPLORER_PAGE ?? join(here, "..", "..", "explorer.html");
const pictures = process.env.EXPLORER_PICTURES ?? join(here, "..", "pictures");

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
}

/**
 * Opens the explorer at a place: what the page loads, and what goes wrong in it, is kept. With `first` the visit is the
 * first one, with `empty` there may be no picture.
 */
export async function open(browser, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1500, height: 1000 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);  // others may use the machine, too
  page.wrongs = [];
  page.loads = [];
  page.on("pageerror", (error) => page.wrongs.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.wrongs.push(message.text()));
  page.on("request", (request) => !/^(file|blob|data):/.test(request.url()) && page.loads.push(request.url()));
  if (!options.first) await page.addInitScript(() => localStorage.setItem("circoll-explorer-known", "1"));
  await page.goto(pathToFileURL(options.file ?? explorer).href + hash);
  await page.waitForSelector("#picture");
  if (!options.empty) await drawn(page);
  return page;
}

/** Waits until the first picture has something in it. */
export async function drawn(page, canvas = "#picture") {
  await page.waitForFunction((name) => (document.querySelector(name)?.items?.length ?? 0) > 0, canvas);
}

/** The parts of a picture: what they are, what they say, and where they lie. */
export function items(page, canvas = "#picture") {
  return page.$eval(canvas, (element) =>
    element.items.map((i) => ({ ...i, label: i.label(), middle: i.along ? i.along[5] : [i.x + i.w / 2, i.y + i.h / 2] })));
}

/** Clicks the first part of a picture that says something. */
export async function click(page, canvas, words) {
  const item = (await items(page, canvas)).find((i) => i.label.includes(words));
  if (item === undefined) throw new Error(`nothing in ${canvas} says "${words}"`);
  await page.click(canvas, { position: { x: item.middle[0], y: item.middle[1] } });
}

export async function picture(page, name) {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}
