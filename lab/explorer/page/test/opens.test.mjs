// What `circoll explore` and the site rely on: the elements that they fill, and the addresses of places. The page that
// comes with the sources must pass this, too, although it may be older than they are.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { explorer, launch, open } from "./browser.mjs";

let browser;
let folder;
before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), "explorer-"));
});
after(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

/** The page with elements filled as the command fills them. */
async function filled(contents) {
  let html = await readFile(explorer, "utf8");
  for (const [name, content] of Object.entries(contents)) {
    const empty = `<meta name="circoll-${name}" content="">`;
    assert.ok(html.includes(empty), empty);
    const value = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
    html = html.replace(empty, () => `<meta name="circoll-${name}" content="${value}">`);
  }
  const file = join(folder, "page.html");
  await writeFile(file, html);
  return file;
}

const opened = (page) => page.textContent(".stage .id");

test("it opens at the place that it brings, and proves it", async () => {
  const page = await open(browser, "", { file: await filled({ place: "id=bcast/binomial&p=11&root=4" }) });
  await page.waitForSelector(".badge.proven");
  assert.equal(await opened(page), "bcast/binomial");
  assert.match(page.url(), /p=11&root=4/);
  await page.context().close();
});

test("it opens at an address, whatever it brings", async () => {
  const file = await filled({ place: "id=bcast/binomial&p=11", schedules: "nonsense" });
  const page = await open(browser, "#id=allgather/ring&p=5", { file });
  await page.waitForSelector(".badge.proven");
  assert.equal(await opened(page), "allgather/ring");
  await page.context().close();
});

test("it opens on schedules that it brings, with a link to the documentation", async () => {
  // The schedules come out of the page itself. A quotation mark, a bracket and an ampersand pass through the attribute.
  const source = await open(browser, "#id=allgather/ring&p=3&panel=export");
  const [download] = await Promise.all([source.waitForEvent("download"), source.click('button:text-is("Schedules as JSON")')]);
  const text = await readFile(await download.path(), "utf8");
  await source.context().close();
  const page = await open(browser, "", { file: await filled({ schedules: text, home: "file:///docs/a&b/index.html" }) });
  await page.waitForSelector("#given-verdict");
  assert.equal(await page.inputValue("textarea"), text);
  assert.equal(await page.getAttribute("#panel-given", "aria-selected"), "true");
  assert.equal(await page.getAttribute('header a:text-is("Documentation")', "href"), "file:///docs/a&b/index.html");
  await page.context().close();
  const wrong = await open(browser, "", { file: await filled({ schedules: text.replaceAll('"peer": 1', '"peer": 2') }), empty: true });
  await wrong.waitForSelector(".badge.refuted, #panel .error");
  await wrong.context().close();
});
