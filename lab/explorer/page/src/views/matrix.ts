// Ranks and rounds: whom each rank sends to, and how much.
import type { Draw, Item } from "./view";
import { same } from "./view";
import { colourOf } from "../levels";
import { messageInWords } from "./circle";

export const drawMatrix: Draw = (g, d) => {
  const { scene, palette } = d;
  const rounds = scene.opened.rounds;
  const left = 16 + g.textWidth(String(scene.p - 1), 11) + 8;
  const top = 38;
  const w = Math.min(96, (d.width - left - 8) / Math.max(rounds, 1));
  const h = Math.min(36, (d.height - top - 8) / scene.p);
  const items: Item[] = [];
  g.text(left, 11, "round, and under it whom each rank sends to", 11, palette.quiet);
  const everyColumn = Math.max(1, Math.ceil((g.textWidth(String(rounds), 11) + 8) / w));
  for (let k = 0; k < rounds; k += everyColumn)
    g.text(left + (k + 0.5) * w, 28, String(k), 11, palette.text, "center", k === d.state.k - 1);
  const everyRow = Math.max(1, Math.ceil(13 / h));
  for (let r = 0; r < scene.p; r += everyRow)
    g.text(left - 8, top + (r + 0.5) * h, String(r), 11, palette.text, "right");
  if (d.state.k > 0) g.rect(left + (d.state.k - 1) * w, top - 2, w, scene.p * h + 4, palette.focus + "30", palette.focus, 1.5);
  const gap = Math.min(2, w * 0.1, h * 0.1);
  scene.rounds.forEach((messages, k) => {
    const done = k < d.state.k;
    for (const m of messages) {
      const x = left + k * w + gap;
      const y = top + m.from * h + gap;
      const share = m.blocks / scene.mostBlocks;
      const chosen = same(d.chosen, { kind: "message", rank: m.from, step: m.send });
      const wrong = d.marked !== undefined && d.marked.rank === m.from && d.marked.step === m.send;
      const strength = Math.round((done ? 70 : 30) + (done ? 100 : 50) * share).toString(16).padStart(2, "0");
      g.rect(x, y, w - 2 * gap, h - 2 * gap, colourOf(palette, d.levels, m.from, m.to) + strength,
        chosen ? palette.focus : wrong ? palette.wrong : undefined, 2.5, Math.min(3, w / 6));
      if (h >= 13 && w >= 26) {
        const text = w >= 54 && scene.mostBlocks > 1 ? `→${m.to} ×${m.blocks}` : `→${m.to}`;
        const size = Math.min(11, h - 3);
        if (g.textWidth(text, size) < w - 4)
          g.text(x + w / 2 - gap, y + h / 2 - gap + 0.5, text, size, palette.text, "center");
      }
      items.push({
        chosen: { kind: "message", rank: m.from, step: m.send },
        label: () => messageInWords(scene, m),
        x: left + k * w,
        y: top + m.from * h,
        w,
        h,
      });
    }
  });
  if (rounds === 0) g.text(d.width / 2, d.height / 2, "No rounds: nothing is sent.", 13, palette.quiet, "center");
  return items;
};
