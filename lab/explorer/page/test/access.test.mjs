// Everybody can use the page: axe-core finds nothing serious, light or dark, wide or narrow, and nothing moves.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { drawn, launch, open, picture } from "./browser.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const panels = ["details", "cost", "failures", "proof", "wrong", "given", "export"];

for (const colorScheme of ["light", "dark"]) {
  test(`no serious violation, ${colorScheme}`, async () => {
    const page = await open(browser, "#id=reduce/binomial&p=6&root=2&k=1&failed=1&cores=2&beside=reduce/linear", { colorScheme });
    await page.evaluate(axe);
    for (const panel of panels) {
      await page.click(`#panel-${panel}`);
      await page.waitForTimeout(300);
      const { violations } = await page.evaluate(() => axe.run());
      const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
      assert.deepEqual(serious.map((v) => `${panel}: ${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`), []);
      if (panel === "cost") await picture(page, `cost-${colorScheme}`);
    }
    await page.context().close();
  });
}

test("on a phone the choice of the algorithm comes first, and the pictures before all else", async () => {
  const page = await open(browser, "#id=bcast/binomial&p=8&k=1", { viewport: { width: 390, height: 844 } });
  const top = (selector) => page.$eval(selector, (element) => element.getBoundingClientRect().top);
  const tops = [];
  for (const selector of ['form[aria-label="The call"]', ".transport", "#picture", 'form[aria-label="More of the call"]', "#panel"])
    tops.push(await top(selector));
  assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
  assert.ok(tops[2] < 700, `the picture begins within the first screen, at ${tops[2]}`);
  await page.context().close();
});

for (const [width, height] of [[390, 844], [820, 1100]]) {
  test(`${width} pixels are wide enough`, async () => {
    const page = await open(browser, "#id=allreduce/circulant_optimal&p=16&k=2&panel=cost", { viewport: { width, height } });
    await page.waitForSelector("#best li");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
    await picture(page, `narrow-${width}`);
    await page.context().close();
  });
}

test("nothing moves from round to round", async () => {
  const page = await open(browser, "#id=allreduce/circulant_optimal&p=16");
  await page.waitForSelector(".badge.proven");
  const box = () => page.$$eval("canvas, .transport, #panel", (list) => list.map((e) => JSON.stringify(e.getBoundingClientRect())));
  const before = await box();
  for (let i = 0; i < 4; ++i) {
    await page.click('button[aria-label="One round on"]');
    await page.waitForFunction((k) => location.hash.includes(`k=${k}`), i + 1);
    assert.deepEqual(await box(), before);
  }
  await page.context().close();
});

test("all of it can be reached by the keyboard", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=4");
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.textContent));
  }
  for (const name of ["picture", "memory", "view-time", "panel-export", "Play", "One round on"]) assert.ok(reached.has(name), name);
  await drawn(page, "#memory");
  await page.context().close();
});
