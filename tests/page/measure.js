"use strict";
// Appended to a page of circoll plot: writes what a reader would see of it into the document, as JSON.
addEventListener("load", () => {
  const visible = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.getClientRects().length > 0);
  const box = (element) => {
    const r = element.getBoundingClientRect();
    return { left: r.left, right: r.right, top: r.top, bottom: r.bottom };
  };
  const boxes = (root, selector) => [...root.querySelectorAll(selector)].map(box);
  const choose = (name, value) => {
    const input = document.getElementById(name) ?? document.querySelector(`input[name=${name}][value="${value}"]`);
    if (input.type === "radio") input.checked = true;
    else input.value = value;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return { sections: visible("section").map((s) => [s.dataset.collective, Number(s.dataset.p)]),
             kinds: visible("figure").map((f) => f.dataset.kind), nothing: visible("#nothing").length, hash: location.hash };
  };
  const found = {
    title: document.title,
    first: visible("figure").map((f) => f.dataset.kind),
    width: innerWidth,
    scrolled: document.documentElement.scrollWidth,
    ground: getComputedStyle(document.body).backgroundColor,
    text: getComputedStyle(document.body).color,
    colours: [...new Set([...document.querySelectorAll(".series")].map((s) => getComputedStyle(s).color))],
    loaded: performance.getEntriesByType("resource").length,
    elements: ["img", "iframe", "b", "script"].map((name) => document.querySelectorAll(name).length),
    figures: visible("figure").map((f) => ({
      collective: f.closest("section").dataset.collective, p: Number(f.closest("section").dataset.p), kind: f.dataset.kind,
      svg: box(f.querySelector("svg")), texts: boxes(f, "text"), ticks: boxes(f, ".tick"), entries: boxes(f, ".entry"),
      markers: boxes(f, ".point .marker"), bars: boxes(f, ".point .bar"), intervals: boxes(f, ".interval"),
      one: boxes(f, ".one"), tips: [...f.querySelectorAll(".point > title")].map((t) => t.textContent),
    })),
  };
  document.querySelector("details").open = true;
  found.table = [...document.querySelectorAll("details[open] tbody tr")].map((r) => [...r.cells].map((c) => c.innerText));
  found.choices = { time: choose("kind", "time"), normalised: choose("kind", "normalised"), all: choose("kind", ""),
                    bcast: choose("collective", "bcast"), none: choose("p", "2"), two: choose("collective", "") };
  const pre = document.createElement("pre");
  pre.id = "measured";
  pre.textContent = JSON.stringify(found);
  document.body.append(pre);
});
