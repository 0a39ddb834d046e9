// The levels of the machine: ranks lie on nodes, and nodes below switches. A message has the colour of the highest one that it passes.
import type { Palette } from "./colours";

export interface Levels {
  /** Ranks on a node. */
  cores: number;
  /** Nodes below a switch; 1: nothing is above the nodes. */
  nodes: number;
}

/** Ranks below a switch. */
export const belowSwitch = ({ cores, nodes }: Levels) => cores * nodes;

/** True if two ranks lie in different parts of so many ranks. Parts of one rank are none. */
export const apart = (ranks: number, from: number, to: number) =>
  ranks > 1 && Math.floor(from / ranks) !== Math.floor(to / ranks);

export function colourOf(palette: Palette, levels: Levels, from: number, to: number): string {
  if (levels.nodes > 1 && apart(belowSwitch(levels), from, to)) return palette.beyond;
  return apart(levels.cores, from, to) ? palette.across : palette.accent;
}
