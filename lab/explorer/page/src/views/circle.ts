// Ranks on a circle, clockwise from the top, as in the papers' figures: each is a pie of its blocks.
import { tintOf } from "../colours";
import { belowSwitch, colourOf } from "../levels";
import type { Painter, Point } from "../painter";
import { bestByBlock, type Message, type Scene, type State } from "../scene";
import { type Draw, type Drawing, type Item, same } from "./view";

interface Ring {
  x: number;
  y: number;
  radius: number;
  node: number;
}

function ringOf(d: Drawing): Ring {
  const p = d.scene.p;
  const outer = Math.min(d.width, d.height) / 2 - 14;
  // Neighbours must not touch, and labels of many ranks stand outside.
  const node = Math.max(3, Math.min(34, (outer * Math.sin(Math.PI / Math.max(p, 6))) / (1 + Math.sin(Math.PI / Math.max(p, 6))) - 2));
  const labels = node < 11 ? 18 : 0;
  return { x: d.width / 2, y: d.height / 2, radius: outer - node - labels, node };
}

const at = (ring: Ring, p: number, rank: number, offset = 0): Point => {
  const angle = (2 * Math.PI * rank) / p;
  const r = p === 1 ? 0 : ring.radius + offset;
  return [ring.x + r * Math.sin(angle), ring.y - r * Math.cos(angle)];
};

function drawNode(g: Painter, d: Drawing, ring: Ring, rank: number): void {
  const [x, y] = at(ring, d.scene.p, rank);
  const failed = d.failed.includes(rank);
  g.disc(x, y, ring.node, d.palette.raised);
  if (!failed) drawPie(g, d, ring, rank, x, y);
  const marked = d.marked?.rank === rank;
  const chosen = d.chosen !== undefined && "rank" in d.chosen && d.chosen.rank === rank;
  const stroke = failed || marked ? d.palette.wrong : chosen ? d.palette.focus : d.palette.quiet;
  g.disc(x, y, ring.node, "none", stroke, marked || chosen ? 3 : 1);
  if (failed) {
    const a = ring.node * 0.6;
    g.line([[x - a, y - a], [x + a, y + a]], d.palette.wrong, 2.5);
    g.line([[x - a, y + a], [x + a, y - a]], d.palette.wrong, 2.5);
  }
  if (ring.node >= 11) {
    const size = Math.min(13, ring.node * 0.7);
    const w = g.textWidth(String(rank), size) + 5;
    if (!failed) g.rect(x - w / 2, y - size / 2 - 2, w, size + 4, d.palette.ground + "d9", undefined, 1, 3);
    g.text(x, y + 0.5, String(rank), size, d.palette.text, "center", true);
  } else {
    const every = Math.ceil(15 / ((2 * Math.PI * ring.radius) / d.scene.p));
    if (rank % every === 0) {
      const [a, b] = at(ring, d.scene.p, rank, ring.node + 10);
      g.text(a, b, String(rank), 10, d.palette.text, "center");
    }
  }
}

function drawPie(g: Painter, d: Drawing, ring: Ring, rank: number, x: number, y: number): void {
  const { scene, state } = d;
  const best = bestByBlock(scene, state, rank);
  const exchange = scene.opened.collective.startsWith("alltoall");
  const [buffer, first, count] = scene.opened.outputs[rank];
  const blocks = exchange
    ? scene.opened.buffers[rank][buffer].blocks.slice(first, first + count)
    : Array.from({ length: scene.opened.blocks }, (_, i) => i);
  const slices = Math.min(blocks.length, 128);
  for (let i = 0; i < slices; ++i) {
    const value = best.get(blocks[Math.floor((i * blocks.length) / slices)]);
    if (value === undefined) continue;
    const tint = tintOf(value.runs, scene.p, scene.isComplete(value, rank), d.palette.dark);
    g.slice(x, y, ring.node, i / slices, (i + 1) / slices, tint.fill);
  }
}

/** From one node to another, bent to the left of its way, so that both directions of an exchange can be seen. */
function wayOf(ring: Ring, p: number, from: number, to: number): { a: Point; bend: Point; b: Point; points: Point[] } {
  const [x1, y1] = at(ring, p, from);
  const [x2, y2] = at(ring, p, to);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const nx = (y2 - y1) / length;
  const ny = -(x2 - x1) / length;
  const mx = (x1 + x2) / 2;
  const my = (y1 + y2) / 2;
  // Towards the center, and to the side.
  const inward = Math.max(0, ring.node * 1.6 + 8 - (ring.radius - Math.hypot(mx - ring.x, my - ring.y))) * 1.2;
  const toCenter = Math.hypot(ring.x - mx, ring.y - my) || 1;
  const side = Math.min(16, length * 0.07);
  const bend: Point = [
    mx + nx * side + ((ring.x - mx) / toCenter) * inward,
    my + ny * side + ((ring.y - my) / toCenter) * inward,
  ];
  const shifted = (x: number, y: number, by: number): Point => {
    const l = Math.hypot(bend[0] - x, bend[1] - y) || 1;
    return [x + ((bend[0] - x) * by) / l, y + ((bend[1] - y) * by) / l];
  };
  const a = shifted(x1, y1, ring.node + 1);
  const b = shifted(x2, y2, ring.node + 2);
  const points: Point[] = [];
  for (let i = 1; i < 12; ++i) {
    const t = i / 12;
    points.push([
      (1 - t) ** 2 * a[0] + 2 * t * (1 - t) * bend[0] + t * t * b[0],
      (1 - t) ** 2 * a[1] + 2 * t * (1 - t) * bend[1] + t * t * b[1],
    ]);
  }
  return { a, bend, b, points };
}

function arrow(g: Painter, way: { a: Point; bend: Point; b: Point }, colour: string, width: number, dash?: number[]): void {
  const { a, bend, b } = way;
  const angle = Math.atan2(b[1] - bend[1], b[0] - bend[0]);
  const head = 5 + 1.6 * width;
  const base: Point = [b[0] - head * 0.8 * Math.cos(angle), b[1] - head * 0.8 * Math.sin(angle)];
  g.curve(a, bend, base, colour, width, dash);
  g.polygon(
    [
      b,
      [b[0] - head * Math.cos(angle - 0.42), b[1] - head * Math.sin(angle - 0.42)],
      [b[0] - head * Math.cos(angle + 0.42), b[1] - head * Math.sin(angle + 0.42)],
    ],
    colour,
  );
}

export function messageInWords(scene: Scene, m: Message): string {
  const blocks = `${m.blocks} ${m.blocks === 1 ? "block" : "blocks"}`;
  return `Round ${m.round}: rank ${m.from} sends ${blocks} to rank ${m.to}${m.recv < 0 && !scene.opened.executes ? ", which may not receive it" : ""}.`;
}

function holdsInWords(scene: Scene, state: State, rank: number): string {
  const best = bestByBlock(scene, state, rank);
  let complete = 0;
  for (const value of best.values()) complete += scene.isComplete(value, rank) ? 1 : 0;
  return scene.opened.combines
    ? `${complete} of ${scene.opened.blocks} blocks are complete`
    : `it has ${best.size} of ${scene.opened.blocks} blocks`;
}

/** Pairs of ranks that exchange messages in any round, as a ground. It is fainter where there are more of them. */
function drawGraph(g: Painter, d: Drawing, ring: Ring): void {
  const pairs = new Set<number>();
  for (const round of d.scene.rounds) {
    for (const m of round) pairs.add(m.from * d.scene.p + m.to);
    if (pairs.size > 1500) return;
  }
  // Up to 12 ranks in full, and 20 % from 64 on.
  const share = Math.min(1, Math.max(0.2, 12.8 / d.scene.p));
  const strength = Math.round(255 * share).toString(16).padStart(2, "0");
  for (const pair of pairs) {
    const way = wayOf(ring, d.scene.p, Math.floor(pair / d.scene.p), pair % d.scene.p);
    g.curve(way.a, way.bend, way.b, d.palette.rule + strength, 1);
  }
}

export const drawCircle: Draw = (g, d) => {
  const ring = ringOf(d);
  const { scene, state, palette } = d;
  const items: Item[] = [];
  drawGraph(g, d, ring);
  if (scene.p > 1) drawLevels(g, d, ring);
  const messages = d.repair ? [] : state.k > 0 ? scene.rounds[state.k - 1] : [];
  const labelled = scene.p <= 16 && messages.some((m) => m.blocks !== messages[0].blocks);
  for (const m of messages) {
    const way = wayOf(ring, scene.p, m.from, m.to);
    const chosen = same(d.chosen, { kind: "message", rank: m.from, step: m.send });
    const wrong = d.marked !== undefined && ((d.marked.rank === m.from && d.marked.step === m.send) || (d.marked.rank === m.to && d.marked.step === m.recv));
    const colour = chosen ? palette.focus : wrong ? palette.wrong : colourOf(palette, d.levels, m.from, m.to);
    const width = (scene.p > 64 ? 0.8 : 1.4) + (scene.mostBlocks > 1 ? (1.6 * m.blocks) / scene.mostBlocks : 0.6) + (chosen ? 1.5 : 0);
    arrow(g, way, colour, width);
    const [x, y] = way.points[5];
    if (labelled) {
      const text = String(m.blocks);
      const w = g.textWidth(text, 11) + 6;
      g.rect(x - w / 2, y - 8, w, 16, palette.ground, undefined, 1, 3);
      g.text(x, y + 0.5, text, 11, palette.text, "center");
    }
    items.push({
      chosen: { kind: "message", rank: m.from, step: m.send },
      label: () => messageInWords(scene, m),
      x: x - 4,
      y: y - 4,
      w: 8,
      h: 8,
      along: way.points,
    });
  }
  for (const [from, to, round] of d.repair ?? []) {
    arrow(g, wayOf(ring, scene.p, from, to), palette.across, 2, round === 0 ? undefined : [7, 3]);
  }
  for (let r = 0; r < scene.p; ++r) {
    drawNode(g, d, ring, r);
    const [x, y] = at(ring, scene.p, r);
    items.push({
      chosen: { kind: "rank", rank: r },
      label: () => `Rank ${r}${d.failed.includes(r) ? " has failed" : `: ${holdsInWords(scene, state, r)}`}.`,
      x: x - ring.node,
      y: y - ring.node,
      w: 2 * ring.node,
      h: 2 * ring.node,
    });
  }
  return items;
};

/** Ranks below one switch lie on one arc, and so do those of one node, inside it. */
function drawLevels(g: Painter, d: Drawing, ring: Ring): void {
  const { levels, palette } = d;
  if (levels.nodes > 1) drawArcs(g, d, ring, belowSwitch(levels), 0.43, palette.rule, 14);
  if (levels.cores > 1) drawArcs(g, d, ring, levels.cores, 0.36, palette.raised, 8);
}

/** An arc for each `ranks` of them. It goes so far beyond the outer ones, as a share of the way to the next, and is so much wider. */
function drawArcs(g: Painter, d: Drawing, ring: Ring, ranks: number, beyond: number, colour: string, wider: number): void {
  const p = d.scene.p;
  for (let first = 0; first < p; first += ranks) {
    const last = Math.min(first + ranks, p) - 1;
    const points: Point[] = [];
    const steps = Math.max(2, (last - first + 1) * 6);
    for (let i = 0; i <= steps; ++i) points.push(at(ring, p, first - beyond + ((last - first + 2 * beyond) * i) / steps, 0));
    g.line(points, colour, 2 * ring.node + wider);
  }
}
