// The memory of every rank: a cell for each slot, coloured by the contributions in it.
import { tintOf } from "../colours";
import { bufferName, blockName, runsInWords, type Scene, valueInWords } from "../scene";
import { type Draw, type Item, same } from "./view";

interface Column {
  buffer: number;
  slots: number;
  x: number;
}

/** The most slots that any rank has of each buffer; those that no rank has are left out. */
function columnsOf(scene: Scene): { buffer: number; slots: number }[] {
  const most: number[] = [];
  for (const buffers of scene.opened.buffers) {
    buffers.forEach((buffer, i) => (most[i] = Math.max(most[i] ?? 0, buffer.blocks.length)));
  }
  return most.map((slots, buffer) => ({ buffer, slots })).filter(({ slots }) => slots > 0);
}

/** Buffers whose slots hold the same blocks at all ranks: their blocks are named once, above. */
const alikeOf = new WeakMap<Scene, boolean[]>();
function alike(scene: Scene, buffer: number): boolean {
  let known = alikeOf.get(scene);
  if (known === undefined) {
    const { buffers } = scene.opened;
    known = columnsOf(scene).reduce<boolean[]>((all, c) => {
      const first = String(buffers[0][c.buffer]?.blocks);
      all[c.buffer] = buffers.every((b) => (b[c.buffer]?.blocks.length ?? 0) === 0 || String(b[c.buffer].blocks) === first);
      return all;
    }, []);
    alikeOf.set(scene, known);
  }
  return known[buffer];
}

/** The height of the memory of p ranks. */
export function memoryHeight(p: number): number {
  return 54 + p * (p <= 16 ? 24 : p <= 40 ? 16 : p <= 80 ? 9 : 6);
}

export interface MemorySize {
  width: number;
  height: number;
}

/** The size that the memory of a scene wants, within a width. */
export function memorySize(scene: Scene, width: number): MemorySize {
  const columns = columnsOf(scene);
  const slots = columns.reduce((sum, c) => sum + c.slots, 0);
  const least = slots * 4 + columns.length * 10 + 60;
  return { width: Math.max(width, least), height: memoryHeight(scene.p) };
}

export const drawMemory: Draw = (g, d) => {
  const { scene, state, palette } = d;
  const { opened } = scene;
  const left = 16 + g.textWidth(String(scene.p - 1), 11) + 8;
  const top = 42;
  const columns = columnsOf(scene);
  const slots = columns.reduce((sum, c) => sum + c.slots, 0);
  const gap = 10;
  const w = Math.min(64, (d.width - left - 8 - gap * (columns.length - 1)) / Math.max(slots, 1));
  const h = Math.min(28, (d.height - top - 6) / scene.p);
  const placed: Column[] = [];
  let x = left;
  for (const column of columns) {
    placed.push({ ...column, x });
    x += column.slots * w + gap;
  }
  const items: Item[] = [];
  let free = 0;
  for (const { buffer, slots: count, x: from } of placed) {
    const name = bufferName(buffer);
    const wide = g.textWidth(name, 11) + 8;
    if (from >= free && from + wide <= d.width) {
      g.text(from, 11, name, 11, palette.text, "left", true);
      free = from + wide;
    }
    if (alike(scene, buffer) && opened.blocks > 1 && !opened.collective.startsWith("alltoall")) {
      const every = Math.max(1, Math.ceil((g.textWidth(String(opened.blocks), 10) + 5) / w));
      for (let i = 0; i < count; i += every)
        g.text(from + (i + 0.5) * w, 29, String(opened.buffers[0][buffer].blocks[i]), 10, palette.quiet, "center");
    }
  }
  const everyRow = Math.max(1, Math.ceil(13 / h));
  for (let r = 0; r < scene.p; ++r) {
    const y = top + r * h;
    const failed = d.failed.includes(r);
    if (r % everyRow === 0) g.text(left - 8, y + h / 2, String(r), 11, failed ? palette.wrong : palette.text, "right");
    for (const { buffer, x: from } of placed) {
      const blocks = opened.buffers[r][buffer]?.blocks ?? [];
      const [output, first, count] = opened.outputs[r];
      for (let slot = 0; slot < blocks.length; ++slot) {
        const value = failed ? undefined : state.memory[r][buffer][slot];
        const cell = from + slot * w;
        const inset = w > 6 && h > 6 ? 0.75 : 0;
        const isOutput = buffer === output && slot >= first && slot < first + count;
        if (value === undefined) {
          g.rect(cell + inset, y + inset, w - 2 * inset, h - 2 * inset, palette.raised);
        } else {
          const complete = scene.isComplete(value, r) && (isOutput || !opened.combines);
          const tint = tintOf(value.runs, scene.p, complete, palette.dark);
          g.rect(cell + inset, y + inset, w - 2 * inset, h - 2 * inset, tint.fill,
            scene.isRepeated(value) && opened.collective !== "barrier" ? palette.wrong : undefined, 2);
          if (w >= 16 && h >= 12) {
            const size = Math.min(11, h - 4);
            const text = cellText(scene, value.runs, value.distinct, complete, (t) => g.textWidth(t, size) <= w - 4);
            g.text(cell + w / 2, y + h / 2 + 0.5, text, size, tint.text, "center");
          }
        }
        const chosen = same(d.chosen, { kind: "slot", rank: r, buffer, slot });
        const marked = d.marked !== undefined && d.marked.rank === r && d.marked.block === blocks[slot] && isOutput;
        if (chosen || marked)
          g.rect(cell, y, w, h, "none", marked ? palette.wrong : palette.focus, 2.5);
        items.push({
          chosen: { kind: "slot", rank: r, buffer, slot },
          label: () => `Rank ${r}, ${bufferName(buffer)}[${slot}], ${blockName(opened, blocks[slot])}: ${failed ? "is lost: the rank has failed" : valueInWords(scene, value, r)}.`,
          x: cell,
          y,
          w,
          h,
        });
      }
    }
  }
  return items;
};

/** What fits into a cell: the ranks, or how many they are. */
function cellText(
  scene: Scene,
  runs: readonly (readonly [number, number])[],
  distinct: number,
  complete: boolean,
  fits: (text: string) => boolean,
): string {
  if (complete && scene.opened.combines && fits("all")) return "all";
  const ranks = runsInWords(runs).replaceAll(", ", ",");
  if (fits(ranks)) return ranks;
  const number = distinct > 1 ? `×${distinct}` : "";
  return fits(number) ? number : "";
}
