// The explorer in a browser: each function by clicking and typing, as a person does.
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { after, before, test } from "node:test";
import { click, drawn, explorer, items, launch, open, picture } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const text = (page, selector) => page.textContent(selector);
const memory = async (page) => (await items(page, "#memory")).map((i) => i.label);
const good = (page) => {
  assert.deepEqual(page.wrongs, []);
  assert.deepEqual(page.loads, []);
};

test("the page is one file, and small", async () => {
  assert.ok((await stat(explorer)).size < 3e6);
  const html = await readFile(explorer, "utf8");
  assert.doesNotMatch(html.slice(0, html.indexOf('id="wasm"')), /src=|href="(?!data:,)/);
});

test("it opens with a picture, and steps through the rounds", async () => {
  const page = await open(browser);
  assert.match(await text(page, ".stage .id"), /allreduce\/circulant_optimal/);
  assert.equal((await items(page)).filter((i) => i.chosen.kind === "rank").length, 8);
  assert.equal((await items(page)).filter((i) => i.chosen.kind === "message").length, 0);
  await page.click('button[aria-label="One round on"]');
  await page.waitForFunction(() => document.querySelector("#picture").items.some((i) => i.chosen.kind === "message"));
  assert.equal((await items(page)).filter((i) => i.chosen.kind === "message").length, 8);
  assert.match(page.url(), /k=1/);
  await page.click('button[aria-label="To the end"]');
  await page.waitForFunction(() => document.querySelector("#memory").items.filter((i) => /recv.*holds all 8/.test(i.label())).length === 64);
  await page.waitForSelector(".badge.proven");
  await picture(page, "end");
  await page.click('button[aria-label="To the beginning"]');
  await page.waitForFunction(() => !document.querySelector("#memory").items.some((i) => /holds all/.test(i.label())));
  good(page);
  await page.context().close();
});

test("a first visit has a hint, which does not come back once it is closed", async () => {
  const page = await open(browser, "", { first: true });
  await page.click('.first button:text-is("Close")');
  await page.waitForSelector(".first", { state: "detached" });
  await page.reload();
  await drawn(page);
  assert.equal(await page.$(".first"), null);
  good(page);
  await page.context().close();
});

test("messages of other rounds are faint among many ranks", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=64&panel=export");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click('button:text-is("Picture as SVG")')]);
  const drawing = await readFile(await download.path(), "utf8");
  const strengths = new Set([...drawing.matchAll(/<path [^>]*fill="none" stroke="(#[0-9a-f]{8})"/g)].map((m) => m[1].slice(7)));
  assert.deepEqual([...strengths], ["33"]);  // a fifth of ff
  await page.context().close();
});

test("it plays by itself, and stops at the end", async () => {
  const page = await open(browser, "#id=allgather/ring&p=4");
  await page.selectOption(".pace", { label: "fast" });
  await page.click(".play");
  await page.waitForFunction(() => document.querySelector(".count").textContent.includes("3 of 3 rounds done"));
  await page.waitForFunction(() => document.querySelector(".play").textContent === "Play");
  good(page);
  await page.context().close();
});

test("a link leads to its place, and the address says what is chosen", async () => {
  const page = await open(browser, "#id=bcast/circulant_pipelined:segments=3&p=11&root=4&k=2&view=matrix");
  assert.equal(await page.inputValue('label:text-is("Ranks p") + input'), "11");
  assert.equal(await page.inputValue('label:text-is("Root") + input'), "4");
  assert.match(await text(page, ".count"), /^2 of \d+ rounds done$/);
  await page.fill('label:text-is("Root") + input', "7");
  await page.waitForFunction(() => location.hash.includes("root=7"));
  await page.selectOption('label:text-is("Collective") + select', "allgather");
  await page.waitForFunction(() => location.hash.includes("id=allgather/"));
  await page.selectOption('label:text-is("Algorithm") + select', "ring");
  await page.check('label:has-text("In place") input');
  await page.waitForFunction(() => location.hash.includes("inPlace=true") && location.hash.includes("allgather/ring"));
  await drawn(page);
  good(page);
  await page.context().close();
});

test("nonsense in the address and in fields does no harm", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=-3&root=99&view=<b>&k=zebra&bytes=1e99&failed=x");
  assert.equal(await page.inputValue('label:text-is("Ranks p") + input'), "8");
  await page.fill('label:text-is("Ranks p") + input', "0");
  assert.equal(await page.getAttribute('label:text-is("Ranks p") + input', "aria-invalid"), "true");
  good(page);
  const unknown = await open(browser, "#id=allreduce/ring&p=8");
  await unknown.evaluate(() => (location.hash = "#id=allreduce/rong&p=8"));
  await unknown.waitForSelector(".stage .error");
  assert.match(await text(unknown, ".stage .error"), /rong/);
  await page.context().close();
  await unknown.context().close();
});

test("a click on a message says its bytes, slots, and what it waited for", async () => {
  const page = await open(browser, "#id=allgather/ring&p=6&k=3&bytes=6144");
  await click(page, "#picture", "rank 2 sends 1 block to rank 3");
  await page.waitForSelector("#panel .waits");
  const panel = await text(page, "#panel");
  assert.match(panel, /Message 2 → 3/);
  assert.match(panel, /block 0/);
  assert.match(panel, /1 KiB of a vector of 6 KiB/);
  assert.match(panel, /recv\[0\]/);
  assert.match(panel, /receive 1 block from rank 1 into recv\[0\]\. Because it brings recv\[0\], which is read here/);
  await picture(page, "message");
  good(page);
  await page.context().close();
});

test("a slot says which contributions it holds, in which order", async () => {
  const page = await open(browser, "#id=allreduce/recursive_doubling&p=4&k=2");
  await click(page, "#memory", "Rank 2, recv[0]");
  await page.waitForSelector("#order");
  assert.equal(await text(page, "#order"), "(0+1)+(2+3)");
  // The same by keys.
  await page.focus("#memory");
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => document.querySelector("#panel h2").textContent.includes("of rank 1"));
  assert.match(await page.textContent(".stage .scroll .spoken"), /Rank 1, recv\[0\].*holds all 4 contributions/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("#panel h2").textContent === "recursive_doubling");
  good(page);
  await page.context().close();
});

test("arrow keys step when nothing else uses them", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=5");
  await page.click("h1");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => location.hash.includes("k=2"));
  await page.keyboard.press("Home");
  await page.waitForFunction(() => !location.hash.includes("k="));
  good(page);
  await page.context().close();
});

test("matrix and time show the same messages", async () => {
  const page = await open(browser, "#id=reduce_scatter_block/circulant&p=9&k=2");
  await page.click("#view-matrix");
  await page.waitForFunction(() => document.querySelector("#picture").items.length === 36);
  await click(page, "#picture", "Round 1: rank 3 sends");
  await page.waitForFunction(() => /Message 3 →/.test(document.querySelector("#panel h2")?.textContent));
  await picture(page, "matrix");
  await page.click("#view-time");
  await page.waitForFunction(() => document.querySelector("#picture").items.some((i) => /combines/.test(i.label())));
  assert.equal((await items(page)).filter((i) => / sends,/.test(i.label)).length, 36);
  await picture(page, "time");
  good(page);
  await page.context().close();
});

test("sliders move times, and the best algorithm changes with size", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=16&panel=cost");
  await page.waitForSelector("#best li");
  const best = await page.$$eval("#best li", (list) => list.map((li) => li.textContent));
  assert.ok(best.length > 1, best.join());
  const before = await text(page, "#shown-time");
  await page.fill('label:has-text("α, a message") + .slider input', "70");
  await page.waitForFunction((was) => document.querySelector("#shown-time").textContent !== was, before);
  assert.match(page.url(), /alpha=/);
  await page.click(".ranking li button");
  await page.waitForFunction(() => !location.hash.includes("id=allreduce/ring&"));
  await picture(page, "cost");
  good(page);
  await page.context().close();
});

test("the chart and the ranking name the same algorithm where several tie", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=8&panel=cost&bytes=65536");
  await page.waitForSelector("#best li");
  const best = await page.$$eval("#best li", (list) =>
    list.map((li) => [li.firstChild.nextSibling.textContent, li.querySelector("span").textContent]));
  const bytes = (words) => {
    const [, number, unit] = words.match(/([\d.]+) (\w+)/);
    return Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
  };
  const [name] = best.filter(([, from]) => bytes(from) <= 65536).at(-1);
  assert.equal((await text(page, ".ranking li button")).split(":")[0], name.trim());
  good(page);
  await page.context().close();
});

test("nodes: what leaves a node is told, and less does after relabelling", async () => {
  const page = await open(browser, "#id=allreduce/circulant_optimal&p=16&k=1");
  await page.fill('label:text-is("Ranks on a node") + input', "4");
  const blocks = () => page.$eval("#crossing", (list) => Number(list.querySelectorAll("dd")[1].textContent));
  await page.waitForSelector("#crossing");
  const before = await blocks();
  await page.check('label:has-text("Relabel") input');
  await page.waitForFunction((was) => document.querySelector("#crossing").querySelectorAll("dd")[1].textContent !== String(was), before);
  assert.ok((await blocks()) < before);
  assert.match(page.url(), /relabel=4/);
  await picture(page, "nodes");
  good(page);
  await page.context().close();
});

test("switches: each level that a message passes has its colour, and its count", async () => {
  const page = await open(browser, "#id=allreduce/recursive_doubling&p=16&k=1&cores=2&panel=details");
  await page.fill('label:text-is("Nodes below a switch") + input', "4");
  await page.waitForSelector("#crossing-switches");
  const messages = (id) => page.$eval(id, (list) => list.querySelector("dd").textContent);
  // Of four rounds the first stays on nodes, and the last one passes switches.
  assert.equal(await messages("#crossing"), "48 of 64");
  assert.equal(await messages("#crossing-switches"), "16 of 64");
  assert.match(page.url(), /nodes=4/);
  assert.match(await text(page, ".legend"), /leaves its switch/);
  await picture(page, "switches");
  good(page);
  await page.context().close();
  // The same in the picture of all rounds.
  const rounds = await open(browser, "#id=allreduce/recursive_doubling&p=16&cores=2&nodes=4&view=matrix&panel=export");
  const [download] = await Promise.all([rounds.waitForEvent("download"), rounds.click('button:text-is("Picture as SVG")')]);
  const drawing = await readFile(await download.path(), "utf8");
  const cells = [...drawing.matchAll(/<rect [^>]*fill="(#[0-9a-f]{6})[0-9a-f]{2}"/g)].map((m) => m[1]);
  const most = (colour) => cells.filter((c) => c === colour).length;
  assert.deepEqual(["#2563b8", "#b45309", "#b0157a"].map(most), [16, 32, 16]);
  good(rounds);
  await rounds.context().close();
});

test("a rank that fails: what is lost, and the repair", async () => {
  const page = await open(browser, "#id=allreduce/circulant_optimal&p=8&k=3&panel=failures");
  await page.click('.ranks button:text-is("5")');
  await page.waitForSelector("#repair dl");
  assert.match(await text(page, "#outcome h3"), /^Result that can still be made: of survivors only$/);
  assert.match(await text(page, ".classes"), /of survivors only \(SURV\)/);
  assert.match(page.url(), /failed=5/);
  await picture(page, "failure");
  await page.click('button[aria-label="To the beginning"]');
  await page.waitForFunction(() => /: of survivors only$/.test(document.querySelector("#outcome h3")?.textContent));
  good(page);
  await page.context().close();
});

test("a range of p is proven, with progress, and can be stopped", async () => {
  const page = await open(browser, "#id=allreduce/circulant&p=8&panel=proof");
  await page.fill('label:text-is("up to") + input', "24");
  await page.click('button:text-is("Prove")');
  await page.waitForFunction(() => /proven, 24 of 24/.test(document.querySelector("#proof-status").textContent));
  assert.equal(await page.$eval("progress", (p) => p.value), 24);
  await page.fill('label:text-is("up to") + input', "2000");
  await page.check('label:has-text("Execute all ranks") input');
  await page.click('button:text-is("Prove")');
  await page.waitForFunction(() => /proving/.test(document.querySelector("#proof-status").textContent));
  await page.click('button:text-is("Stop")');
  await page.waitForFunction(() => /stopped/.test(document.querySelector("#proof-status").textContent));
  good(page);
  await page.context().close();
});

test("every exhibit of the gallery is refuted, by the claim that it teaches", async () => {
  const page = await open(browser, "#id=allreduce/ring&p=4&panel=wrong");
  await page.waitForSelector(".gallery button");
  const titles = await page.$$eval(".gallery button", (list) => list.map((b) => b.textContent));
  assert.ok(titles.length >= 10);
  for (const title of titles) {
    await page.click(`.gallery button:text-is("${title}")`);
    await page.waitForFunction((t) => document.querySelector("#panel h3").textContent === t, title);
    await page.waitForSelector(".badge.refuted");
    await page.waitForSelector("#refutation");
    await drawn(page, "#memory");
  }
  await page.click('.gallery button:text-is("Everybody receives before it sends")');
  await page.waitForFunction(() => /rounds/.test(document.querySelector(".badge").textContent));
  await page.click('button[aria-label="To the end"]');
  await picture(page, "wrong");
  good(page);
  await page.context().close();
});

test("a schedule that is pasted is proven or refuted, as text, JSON and XML", async () => {
  const page = await open(browser, "#id=allgather/ring&p=3&panel=export");
  const exported = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`button:text-is("${name}")`)]);
    return readFile(await download.path(), "utf8");
  };
  const forms = [await exported("Schedules as text"), await exported("Schedules as JSON"), await exported("XML for MSCCL")];
  await page.click("#panel-given");
  for (const form of forms) {
    await page.fill("textarea", form);
    await page.click('button:text-is("Prove and show")');
    await page.waitForSelector("#given-verdict");
    await page.click('button:text-is("Back to the algorithm")');
    await page.waitForSelector("#given-verdict", { state: "detached" });
  }
  await page.fill("textarea", forms[0].replace("recv <- 0: recv[0+1]", "recv <- 0: recv[1+1]"));
  await page.click('button:text-is("Prove and show")');
  await page.waitForSelector(".badge.refuted");
  await page.fill("textarea", "<script>alert(1)</script>");
  await page.click('button:text-is("Prove and show")');
  await page.waitForSelector("#panel .error");
  good(page);
  await page.context().close();
});

test("two algorithms stand side by side, in step", async () => {
  const page = await open(browser, "#id=allreduce/circulant_optimal&p=8&k=2");
  await page.selectOption('label:text-is("Compare with") + select', "ring");
  await drawn(page, "#picture-2");
  assert.match(page.url(), /beside=allreduce\/ring/);
  await page.click('button[aria-label="To the end"]');
  await page.waitForFunction(() => location.hash.includes("k=14"));
  await page.waitForFunction(() => document.querySelector("#memory-2").items.filter((i) => /recv.*holds all 8/.test(i.label())).length === 64);
  await picture(page, "beside");
  good(page);
  await page.context().close();
});

test("files: pictures as SVG, and schedules for other tools", async () => {
  const page = await open(browser, "#id=allreduce/recursive_doubling&p=4&k=1&panel=export&bytes=64");
  const exported = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`button:text-is("${name}")`)]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  };
  const drawing = await exported("Picture as SVG");
  assert.equal(drawing.name, "allreduce_recursive_doubling_p4_circle.svg");
  assert.match(drawing.text, /^<svg [^>]*>.*<\/svg>\n$/s);
  assert.match((await exported("Memory as SVG")).text, /<rect/);
  assert.match((await exported("GOAL for simulators")).text, /num_ranks 4/);
  assert.equal(JSON.parse((await exported("Schedules as JSON")).text).length, 4);
  assert.match((await exported("Graph for Graphviz")).text, /digraph/);
  good(page);
  await page.context().close();
});
