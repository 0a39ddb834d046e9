// What all views have in common: they draw, and say what lies where.
import type { Painter } from "../painter";
import type { Palette } from "../colours";
import type { Levels } from "../levels";
import type { Scene, State } from "../scene";
import type { Times } from "../answers";

/** The thing that is chosen, in any view. */
export type Chosen =
  | { kind: "message"; rank: number; step: number }
  | { kind: "step"; rank: number; step: number }
  | { kind: "slot"; rank: number; buffer: number; slot: number }
  | { kind: "rank"; rank: number };

/** Something in a picture that can be pointed at. */
export interface Item {
  chosen: Chosen;
  /** A full sentence for people, also for those who do not see the picture. */
  label: () => string;
  x: number;
  y: number;
  /** Its extent, for rectangles; for discs and lines, how near one must be. */
  w: number;
  h: number;
  /** Of a line: points on it. */
  along?: readonly (readonly [number, number])[];
}

export interface Drawing {
  scene: Scene;
  state: State;
  palette: Palette;
  width: number;
  height: number;
  levels: Levels;
  failed: readonly number[];
  chosen?: Chosen;
  /** A place that a refutation names. */
  marked?: { rank: number; step: number; block: number };
  times?: Times;
  bytes: number;
  repair?: readonly (readonly [number, number, number, number])[];
}

/** Draws, and returns the items in reading order. */
export type Draw = (painter: Painter, drawing: Drawing) => Item[];

export const same = (a: Chosen | undefined, b: Chosen | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The item at a point: the smallest one, a line if it is near. */
export function itemAt(items: readonly Item[], x: number, y: number): Item | undefined {
  let best: Item | undefined;
  let least = Infinity;
  for (const item of items) {
    let distance: number;
    if (item.along) {
      distance = Math.min(...item.along.map(([a, b]) => Math.hypot(a - x, b - y)));
      if (distance > 7) continue;
      distance += 3;
    } else {
      if (x < item.x || x > item.x + item.w || y < item.y || y > item.y + item.h) continue;
      distance = 0;
    }
    if (distance < least) {
      least = distance;
      best = item;
    }
  }
  return best;
}

/** The next item in the direction of an arrow key. */
export function itemTowards(items: readonly Item[], from: Item, key: string): Item {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  const center = (item: Item) => [item.x + item.w / 2, item.y + item.h / 2];
  const [x, y] = center(from);
  let best = from;
  let least = Infinity;
  for (const item of items) {
    const [a, b] = center(item);
    const ahead = (a - x) * dx + (b - y) * dy;
    const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    if (ahead <= 0.5) continue;
    const distance = ahead + 3 * aside;
    if (distance < least) {
      least = distance;
      best = item;
    }
  }
  return best;
}
