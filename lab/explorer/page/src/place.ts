// The place in the explorer: everything that is chosen, as the address says it.

export const views = ["circle", "matrix", "time"] as const;
export type View = (typeof views)[number];
export const panels = ["details", "cost", "failures", "proof", "wrong", "given", "export"] as const;
export type Panel = (typeof panels)[number];

export interface Place {
  /** "allreduce/ring:segments=4", as the command line has it. */
  id: string;
  p: number;
  root: number;
  inPlace: boolean;
  /** The rounds that have ended. */
  k: number;
  view: View;
  panel: Panel;
  /** A second algorithm beside the first; empty: none. */
  beside: string;
  /** Ranks on a node; 1: every rank has one of its own. */
  cores: number;
  /** Nodes below a switch; 1: nothing is above the nodes. */
  nodes: number;
  bytes: number;
  alpha: number;
  beta: number;
  gamma: number;
  failed: number[];
  keep: string;
  /** A faulty example in place of the algorithm; empty: none. "given": one's own schedule. */
  wrong: string;
}

export const start: Place = {
  id: "allreduce/circulant_optimal",
  p: 8,
  root: 0,
  inPlace: false,
  k: 0,
  view: "circle",
  panel: "details",
  beside: "",
  cores: 1,
  nodes: 1,
  bytes: 1024,
  alpha: 0.5e-6,
  beta: 0.1e-9,
  gamma: 0.015e-9,
  failed: [],
  keep: "keep",
  wrong: "",
};

const whole = (least: number, most: number) => (text: string) => {
  const number = Number(text);
  return Number.isInteger(number) && number >= least && number <= most ? number : undefined;
};
const real = (text: string) => {
  const number = Number(text);
  return text !== "" && Number.isFinite(number) && number >= 0 && number < 1e6 ? number : undefined;
};
const word = (text: string) => (/^[A-Za-z0-9_./:=,+-]*$/.test(text) ? text : undefined);
const one = <T extends string>(known: readonly T[]) => (text: string) => known.find((name) => name === text);

/** How each part of a place is read. What cannot be read is left as it starts. */
const readers: { [Key in keyof Place]: (text: string) => Place[Key] | undefined } = {
  id: word,
  p: whole(1, 2 ** 31 - 1),
  root: whole(0, 2 ** 31 - 1),
  inPlace: (text) => text === "true",
  k: whole(0, 1 << 24),
  view: one(views),
  panel: one(panels),
  beside: word,
  cores: whole(1, 1 << 20),
  nodes: whole(1, 1 << 20),
  bytes: whole(0, 2 ** 50),
  alpha: real,
  beta: real,
  gamma: real,
  failed: (text) => {
    const ranks = text.split(",").map(whole(0, 1 << 20));
    return ranks.every((r) => r !== undefined) ? (ranks as number[]) : undefined;
  },
  keep: one(["live", "buf", "keep", "log"]),
  wrong: word,
};

/** Reads "#id=allreduce/ring&p=8". */
export function placeFrom(hash: string): Place {
  const place = { ...start };
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, "").replace(/\+/g, "%2B"))) {
    if (!(key in readers)) continue;
    const value = readers[key as keyof Place](text);
    if (value !== undefined) Object.assign(place, { [key]: value });
  }
  if (place.root >= place.p) place.root = 0;
  return place;
}

/** The address of a place: what is as at the start is left out, but for the algorithm and p. */
export function hashOf(place: Place): string {
  const parts: string[] = [];
  for (const key of Object.keys(readers) as (keyof Place)[]) {
    const text = String(place[key]);
    if (key === "id" || key === "p" || text !== String(start[key])) parts.push(`${key}=${text}`);
  }
  return "#" + parts.join("&");
}

/** The parts of "allreduce/ring:segments=4". */
export function partsOf(id: string): { collective: string; algorithm: string; params: Record<string, number> } {
  const [path, given = ""] = id.split(":");
  const [collective, algorithm = ""] = path.split("/");
  const params: Record<string, number> = {};
  for (const part of given.split(",")) {
    const [name, value] = part.split("=");
    if (name !== "" && value !== undefined) params[name] = Number(value);
  }
  return { collective, algorithm, params };
}

export function idOf(collective: string, algorithm: string, params: Record<string, number>): string {
  const given = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return `${collective}/${algorithm}${given.length > 0 ? ":" + given.join(",") : ""}`;
}
