// A collective that is open: its schedules' messages by round, and what every rank holds between rounds.
import type { Contents, Opened, Stopped } from "./answers";
import type { Engine } from "./engine";

export interface Message {
  from: number;
  to: number;
  round: number;
  blocks: number;
  send: number;
  recv: number;
}

/** A value in memory: which contributions it is made of. */
export interface Value {
  number: number;
  /** Contributions, counted as often as they are in it. */
  leaves: number;
  runs: [number, number][];
  /** Different contributions. */
  distinct: number;
}

/** The values of every rank between two rounds. */
export interface State {
  k: number;
  /** By rank and buffer: a value for each slot, or undefined. The send buffer is always there. */
  memory: (Value | undefined)[][][];
  stopped?: Stopped;
}

export class Scene {
  readonly rounds: Message[][];
  readonly values = new Map<number, Value>();
  /** Buffers that some rank has, in order; of scratch, views of one storage are shown in one place. */
  readonly mostBlocks: number;
  private readonly states = new Map<number, Promise<State>>();

  constructor(
    readonly opened: Opened,
    readonly session: number,
    private readonly engine: Engine,
  ) {
    this.rounds = Array.from({ length: opened.rounds + 1 }, () => []);
    const flat = opened.messages;
    for (let i = 0; i < flat.length; i += 6) {
      this.rounds[flat[i + 2]].push({
        from: flat[i],
        to: flat[i + 1],
        round: flat[i + 2],
        blocks: flat[i + 3],
        send: flat[i + 4],
        recv: flat[i + 5],
      });
    }
    this.mostBlocks = Math.max(1, ...this.rounds.flat().map((m) => m.blocks));
  }

  get p(): number {
    return this.opened.p;
  }

  /** How many contributions a result has that rank r gets. */
  completeAt(rank: number): number {
    if (!this.opened.combines) return 1;
    if (this.opened.collective === "scan") return rank + 1;
    if (this.opened.collective === "exscan") return Math.max(rank, 1);
    return this.p;
  }
  isComplete(value: Value, rank: number): boolean {
    return this.opened.combines && value.distinct === this.completeAt(rank);
  }
  isRepeated(value: Value): boolean {
    return this.opened.combines && value.leaves > value.distinct;
  }

  /** The contribution of a rank to a block, as it lies in its send buffer. */
  private contribution(rank: number, block: number): Value {
    const { combines, blocks, contributors, segments } = this.opened;
    const number = 1 + (combines ? rank * blocks : 0) + block;
    let value = this.values.get(number);
    if (value === undefined) {
      const from = combines ? rank : contributors[Math.floor(block / segments)];
      value = { number, leaves: 1, distinct: 1, runs: [[from, from]] };
      this.values.set(number, value);
    }
    return value;
  }

  /** The state after k rounds; asked once. */
  at(k: number): Promise<State> {
    let state = this.states.get(k);
    if (state === undefined) {
      if (this.states.size > 200) this.states.clear();
      state = this.engine.ask("contents", { session: this.session, k }).then((contents) => this.read(k, contents));
      this.states.set(k, state);
    }
    return state;
  }

  private read(k: number, contents: Contents): State {
    for (const [number, leaves, ...flat] of contents.values) {
      const runs: [number, number][] = [];
      let distinct = 0;
      for (let i = 0; i < flat.length; i += 2) {
        runs.push([flat[i], flat[i + 1]]);
        distinct += flat[i + 1] - flat[i] + 1;
      }
      this.values.set(number, { number, leaves, distinct, runs });
    }
    const memory = this.opened.buffers.map((buffers, rank) => {
      const own = buffers.map((buffer) => new Array<Value | undefined>(buffer.blocks.length));
      buffers[0].blocks.forEach((block, slot) => (own[0][slot] = this.contribution(rank, block)));
      const flat = contents.ranks[rank] ?? [];
      // Of a session that was opened meanwhile in this one's place, nothing is taken.
      for (let i = 0; i < flat.length; i += 3) {
        const slots = own[flat[i]];
        if (slots !== undefined) slots[flat[i + 1]] = this.values.get(flat[i + 2]);
      }
      return own;
    });
    return { k, memory, stopped: contents.stopped };
  }
}

export const bufferName = (buffer: number) => (buffer === 0 ? "send" : buffer === 1 ? "recv" : `scratch${buffer}`);

/** "0-3, 7". */
export function runsInWords(runs: readonly (readonly [number, number])[], most = 12): string {
  const words = runs.slice(0, most).map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a}–${b}`));
  return words.join(", ") + (runs.length > most ? ", …" : "");
}

/** The name of a block: "block 3", "segment 2 of block 0", "block 1→4". */
export function blockName(opened: Opened, block: number): string {
  const user = Math.floor(block / opened.segments);
  const exchange = opened.collective.startsWith("alltoall");
  const name = exchange ? `${Math.floor(user / opened.p)}→${user % opened.p}` : `${user}`;
  if (opened.user_blocks === 1) return opened.segments === 1 ? "the vector" : `part ${block} of ${opened.segments}`;
  return opened.segments === 1 ? `block ${name}` : `part ${block % opened.segments} of block ${name}`;
}

export function valueInWords(scene: Scene, value: Value | undefined, rank: number): string {
  if (value === undefined) return "holds nothing";
  if (!scene.opened.combines) return `holds the data of rank ${value.runs[0][0]}`;
  const repeated = scene.isRepeated(value) ? `, some more than once (${value.leaves} in all)` : "";
  if (scene.isComplete(value, rank)) return `holds all ${value.distinct} contributions${repeated}`;
  if (value.distinct === 1) return `holds the contribution of rank ${value.runs[0][0]}${repeated}`;
  return `combines ${value.distinct} contributions: ranks ${runsInWords(value.runs)}${repeated}`;
}

/** The most complete value of each block at a rank, wherever it lies. */
export function bestByBlock(scene: Scene, state: State, rank: number): Map<number, Value> {
  const best = new Map<number, Value>();
  state.memory[rank].forEach((slots, buffer) => {
    const { blocks } = scene.opened.buffers[rank][buffer];
    slots.forEach((value, slot) => {
      if (value === undefined) return;
      const now = best.get(blocks[slot]);
      if (now === undefined || now.distinct < value.distinct) best.set(blocks[slot], value);
    });
  });
  return best;
}
