"use strict";
// Which panels and kinds are shown. The choice is kept in the address, after #, so that it can be sent to others.
const byId = (id) => document.getElementById(id);
const names = ["collective", "p"];
const chosenKind = () => document.querySelector("input[name=kind]:checked").value;

function show() {
  const kind = chosenKind();
  for (const section of document.querySelectorAll("section")) {
    section.hidden = names.some((name) => byId(name).value !== "" && byId(name).value !== section.dataset[name]);
    section.querySelector(".figures").classList.toggle("single", kind !== "");
    for (const figure of section.querySelectorAll("figure")) {
      figure.hidden = kind !== "" && kind !== figure.dataset.kind;
    }
    const lacking = section.querySelector(".lacking");
    if (lacking) lacking.hidden = kind === "time";
  }
  byId("nothing").hidden = document.querySelector("section:not([hidden])") !== null;
}

function keep() {
  const choice = new URLSearchParams();
  for (const name of names) if (byId(name).value !== "") choice.set(name, byId(name).value);
  choice.set("kind", chosenKind() || "all");
  history.replaceState(null, "", "#" + choice);
}

function restore() {
  const choice = new URLSearchParams(location.hash.slice(1));
  for (const name of names) {
    const known = [...byId(name).options].some((option) => option.value === choice.get(name));
    byId(name).value = known ? choice.get(name) : "";
  }
  const kind = choice.get("kind") ?? document.body.dataset.kind;
  for (const input of document.querySelectorAll("input[name=kind]")) {
    if (input.value === (kind === "all" ? "" : kind)) input.checked = true;
  }
  show();
}

byId("choice").addEventListener("change", () => { show(); keep(); });
addEventListener("hashchange", restore);
byId("choice").hidden = false;
restore();
