// The answers of the library, as lab/explorer/engine writes them.

export interface Param {
  name: string;
  least: number;
  most: number;
  fallback: number;
  summary: string;
}
export interface Algorithm {
  name: string;
  summary: string;
  source: string;
  when: string;
  family: string;
  needs: string[];
  gives: string[];
  rounds: string;
  sent: string;
  reduced: string;
  time: string;
  params: Param[];
}
export interface Collective {
  name: string;
  rooted: boolean;
  reducing: boolean;
  in_place: boolean;
  relabels: boolean;
  algorithms: Algorithm[];
}
export interface Machine {
  alpha_s: number;
  beta_s_per_byte: number;
  gamma_s_per_byte: number;
  f_alpha?: number;
  f_beta?: number;
}
export interface Catalogue {
  collectives: Collective[];
  machine: Machine;
}

export interface Buffer {
  storage: number;
  blocks: number[];
}
export interface Refutation {
  claim: string;
  p: number;
  root: number;
  in_place: boolean;
  params: Record<string, number>;
  rank: number;
  step: number;
  block: number;
  what: string;
}
export interface Counted {
  rounds: number;
  sent: number;
  received: number;
  reduced: number;
  copied: number;
}
export interface Verdict {
  proven: boolean;
  counted: Counted;
  messages: number;
  reductions: number;
  by_rotation: boolean;
  refutation?: Refutation;
}
export interface Opened {
  id: string;
  collective: string;
  p: number;
  root: number;
  params: Record<string, number>;
  rounds: number;
  blocks: number;
  user_blocks: number;
  segments: number;
  blocks_of_vector: number;
  moves_data: boolean;
  combines: boolean;
  executes: boolean;
  contributors: number[];
  buffers: Buffer[][];
  outputs: [buffer: number, first: number, count: number][];
  /** Six numbers for each message: from, to, round, blocks, the step that sends, the one that receives or -1. */
  messages: number[];
  verdict?: Verdict;
}
export interface Stopped {
  claim: string;
  rank: number;
  step: number;
  block: number;
  what: string;
}
export interface Contents {
  /** Three numbers for each value in a rank's memory: buffer, slot, value. */
  ranks: number[][];
  /** Values that are new: value, contributions, and runs of ranks. */
  values: number[][];
  stopped?: Stopped;
}
export interface Wait {
  step: number;
  round: number;
  text: string;
  why: string;
}
export interface StepInWords {
  rank: number;
  step: number;
  round: number;
  kind: string;
  peer: number;
  text: string;
  waits: Wait[];
  blocks?: number[];
  slots?: string;
  bytes?: number;
  other?: StepInWords;
}
export interface Times {
  time_s: number;
  last_rank: number;
  /** Two numbers for each step of a rank: begin and end. */
  steps: number[][];
  /** A letter for each step: s(end), r(eceive), x (combine), c(opy), v (receive and combine). */
  kinds: string[];
  path: [rank: number, step: number, wait: number][];
}
export interface Ranked {
  name: string;
  text: string;
  time_s?: number;
  rounds?: number;
  bytes?: number;
  combined?: number;
  unmet?: string;
}
export interface Ranking {
  ranking: Ranked[];
  shown?: { time_s: number; alpha: number; alpha_uni: number; bytes: number; bytes_uni: number; combined: number };
}
export interface Chart {
  sizes: number[];
  series: Record<string, (number | null)[]>;
  /** The first of the ranking at each size; "" where no algorithm can serve the call. */
  best: string[];
}
export interface FailureAnswer {
  outcome: { class: string; pieces: number | null; copies: number | null; lost: number; contributed: number; needed: number };
  repair?: {
    goal: string;
    why_not?: string;
    rounds?: number;
    sent?: number;
    reduced?: number;
    pieces?: number;
    missing?: number;
    time_s?: number;
    messages?: [from: number, to: number, round: number, blocks: number][];
  };
}
export interface Exhibit {
  name: string;
  title: string;
  lesson: string;
  claim: string;
}

export interface Answers {
  catalogue: Catalogue;
  open: Opened;
  open_wrong: Opened;
  open_text: Opened;
  verdict: Verdict;
  contents: Contents;
  value: { text: string };
  step: StepInWords;
  steps: [round: number, text: string][];
  times: Times;
  ranking: Ranking;
  chart: Chart;
  failure: FailureAnswer;
  failures: string[];
  proof: { instances: number; by_rotation: number; refutation?: Refutation };
  gallery: Exhibit[];
  form: { text: string };
}
export type Question = Record<string, unknown>;
