// Every rank's steps over time, as the simulator plays them, with the critical path.
import type { Point } from "../painter";
import type { Draw, Item } from "./view";
import { same } from "./view";
import { inSeconds } from "../words";

const names: Record<string, string> = {
  s: "sends",
  r: "receives",
  x: "combines",
  c: "copies",
  v: "receives and combines",
};

/** Round numbers on an axis from 0: 1, 2 or 5 times a power of ten. */
function ticks(most: number, about: number): number[] {
  const raw = most / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw)!;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

export const drawTime: Draw = (g, d) => {
  const { scene, palette, times } = d;
  if (times === undefined) {
    g.text(d.width / 2, d.height / 2, "The simulator is playing.", 13, palette.quiet, "center");
    return [];
  }
  const left = 16 + g.textWidth(String(scene.p - 1), 11) + 8;
  const top = 42;
  const right = 14;
  const h = Math.min(34, (d.height - top - 8) / scene.p);
  const scale = (d.width - left - right) / Math.max(times.time_s, 1e-15);
  const x = (t: number) => left + t * scale;
  const bottom = top + scene.p * h;
  for (const tick of ticks(Math.max(times.time_s, 1e-12), Math.max(2, d.width / 110))) {
    g.line([[x(tick), top - 4], [x(tick), bottom]], palette.rule, 1);
    g.text(Math.min(x(tick), d.width - 24), top - 12, inSeconds(tick), 10, palette.quiet, tick === 0 ? "left" : "center");
  }
  const colour: Record<string, string> = {
    s: palette.accent,
    r: palette.dark ? "#4fae86" : "#2f8f68",
    x: palette.across,
    c: palette.quiet,
    v: palette.across,
  };
  const kinds = ["s", "r", "x", "c"];
  const words = [...kinds.map((kind) => names[kind]), "critical path"].reduce((sum, word) => sum + g.textWidth(word, 11), 0);
  const gap = Math.min(18, Math.max(3, (d.width - words - 14 * kinds.length - 26) / kinds.length));
  let at = 2;
  for (const kind of kinds) {
    g.rect(at, 6, 10, 10, colour[kind], undefined, 1, 2);
    g.text(at + 14, 11.5, names[kind], 11, palette.text);
    at += 14 + g.textWidth(names[kind], 11) + gap;
  }
  g.line([[at, 11], [at + 18, 11]], palette.wrong, 2);
  g.text(at + 23, 11.5, "critical path", 11, palette.text);
  const everyRow = Math.max(1, Math.ceil(13 / h));
  const items: Item[] = [];
  for (let r = 0; r < scene.p; ++r) {
    const y = top + r * h;
    if (r % everyRow === 0) g.text(left - 8, y + h / 2, String(r), 11, palette.text, "right");
    const steps = times.steps[r];
    const kinds = times.kinds[r];
    const lane: Record<string, number> = { s: 0, r: 0.5, x: 0.25, c: 0.25, v: 0.25 };
    for (let i = 0; i < kinds.length; ++i) {
      const begin = steps[2 * i];
      const end = steps[2 * i + 1];
      const kind = kinds[i];
      const from = x(begin);
      const w = Math.max(x(end) - from, 1);
      const half = h > 6 ? 0.5 : 1;
      const down = h > 6 ? lane[kind] : 0;
      const chosen = same(d.chosen, { kind: kind === "s" ? "message" : "step", rank: r, step: i });
      g.rect(from, y + h * down + 0.5, w, Math.max(h * half - 1, 1), colour[kind] + (chosen ? "" : "c8"),
        chosen ? palette.focus : undefined, 2);
      items.push({
        chosen: { kind: kind === "s" ? "message" : "step", rank: r, step: i },
        label: () => `Rank ${r} ${names[kind]}, from ${inSeconds(begin)} to ${inSeconds(end)}.`,
        x: from,
        y: y + h * down,
        w: Math.max(w, 3),
        h: h * half,
      });
    }
  }
  const path: Point[] = [];
  for (const [rank, step] of times.path) {
    const y = top + (rank + 0.5) * h;
    path.push([x(times.steps[rank][2 * step]), y], [x(times.steps[rank][2 * step + 1]), y]);
  }
  if (path.length > 1) g.line(path, palette.wrong, 1.8);
  return items;
};
