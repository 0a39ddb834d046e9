// A proof for a range of p, made in a copy of the library of its own, so that the page stays quick.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Refutation } from "../answers";
import { Engine } from "../engine";
import { NumberField } from "../fields";
import { idOf, partsOf } from "../place";
import { plural } from "../words";
import type { PanelProps } from "./panels";

interface Progress {
  id: string;
  done: number;
  instances: number;
  rotation: number;
  skipped: number;
  refutation?: Refutation;
  error?: string;
  running: boolean;
  seconds: number;
}

export function ProofPanel({ place, shown }: PanelProps) {
  const [first, setFirst] = useState(1);
  const [last, setLast] = useState(64);
  const [allRoots, setAllRoots] = useState(false);
  const [allRanks, setAllRanks] = useState(false);
  const [progress, setProgress] = useState<Progress>();
  const engine = useRef<Engine | undefined>(undefined);
  const stop = () => {
    engine.current?.end();
    engine.current = undefined;
  };
  useEffect(() => stop, []);
  const prove = async () => {
    stop();
    const own = new Engine();
    engine.current = own;
    const begin = performance.now();
    const { collective, algorithm, params } = partsOf(place.id);
    // The range has its own samples of segments.
    const { segments: _, ...others } = params;
    const id = idOf(collective, algorithm, others);
    const now: Progress = { id, done: 0, instances: 0, rotation: 0, skipped: 0, running: true, seconds: 0 };
    try {
      for (let p = first; p <= last; ++p) {
        const answer = await own.ask("proof", { id, p, all_roots: allRoots, all_ranks: allRanks });
        now.done = p - first + 1;
        now.instances += answer.instances;
        now.rotation += answer.by_rotation;
        now.skipped += answer.instances === 0 && !answer.refutation ? 1 : 0;
        now.seconds = (performance.now() - begin) / 1000;
        now.refutation = answer.refutation;
        setProgress({ ...now });
        if (answer.refutation) break;
      }
    } catch (error) {
      now.error = (error as Error).message;
    }
    if (engine.current === own) {
      stop();
      setProgress({ ...now, running: false });
    }
  };
  const { verdict, scene } = shown;
  const total = last - first + 1;
  return (
    <>
      <h2>Proof</h2>
      {verdict && scene && (
        <p>
          {verdict.proven
            ? `What is on show (p = ${scene.p}) is proven${verdict.by_rotation ? ", by one rank of which all others are rotations" : ""}: every contribution exactly once in every result, no deadlock, no race, and the cost that is declared.`
            : "What is on show is refuted:"}
        </p>
      )}
      {verdict?.refutation && scene && <RefutationText refutation={verdict.refutation} />}
      <h3>For a range of p</h3>
      {place.wrong !== "" ? (
        <p>A range needs an algorithm: choose one on the left.</p>
      ) : (
        <>
          <div class="pair">
            <NumberField label="From p =" least={1} most={1 << 20} value={first} set={setFirst} />
            <NumberField label="up to" least={first} most={1 << 20} value={Math.max(last, first)} set={setLast} />
          </div>
          <label class="check"><input type="checkbox" checked={allRoots} onChange={(e) => setAllRoots(e.currentTarget.checked)} />All roots, not a sample</label>
          <label class="check"><input type="checkbox" checked={allRanks} onChange={(e) => setAllRanks(e.currentTarget.checked)} />Execute all ranks, also where one stands for all</label>
          <p class="buttons">
            <button type="button" onClick={() => void prove()} disabled={progress?.running}>Prove</button>
            <button type="button" onClick={() => { stop(); setProgress(progress && { ...progress, running: false }); }} disabled={!progress?.running}>Stop</button>
          </p>
          <progress max={total} value={progress?.done ?? 0} aria-label="Values of p that are done" />
          <div id="proof-status" role="status">
            {progress && !progress.refutation && progress.error === undefined && (
              <p>
                {progress.id}: {progress.running ? "proving" : progress.done === total ? "proven" : "stopped"}, {progress.done} of {total} values of p,
                {" "}{plural(progress.instances, "instance")} in {progress.seconds.toFixed(1)} s{progress.rotation > 0 ? `, ${progress.rotation} of them by one rank` : ""}
                {progress.skipped > 0 ? `; ${progress.skipped} values of p are none that it serves` : ""}.
              </p>
            )}
            {progress?.error !== undefined && progress.error !== "stopped" && <p class="error">{progress.error}</p>}
            {progress?.refutation && <RefutationText refutation={progress.refutation} />}
          </div>
        </>
      )}
    </>
  );
}

/** A refutation in words: the claim, and the smallest evidence against it. */
export function RefutationText({ refutation }: { refutation: Refutation }) {
  const { claim, rank, step, block, what, p, root } = refutation;
  const where = [rank >= 0 && `rank ${rank}`, step >= 0 && `step ${step}`, block >= 0 && `block ${block}`].filter(Boolean).join(", ");
  return (
    <div class="refutation" id="refutation">
      <p><strong>{claim}</strong>: {claims[claim] ?? ""}</p>
      <p>p = {p}{root > 0 ? `, root ${root}` : ""}{where === "" ? "" : `, ${where}`}: {what}.</p>
    </div>
  );
}

/** What each claim says. */
const claims: Record<string, string> = {
  structure: "operands, slots and peers are within bounds.",
  buildable: "the algorithm writes a schedule without an error.",
  matching: "every send meets one receive of the same blocks, in the same round.",
  no_deadlock: "all steps can end even if every send blocks until it is received.",
  no_race: "steps that touch the same slot, one of them writing, are ordered.",
  defined: "no step reads a slot that holds nothing.",
  right_block: "every value stays in slots of its own block.",
  send_untouched: "the send buffer is never written.",
  exactly_once: "each contribution is in each result once.",
  result: "every result slot holds the value that the collective defines.",
  rank_order: "contributions are combined in the order of ranks.",
  same_bits: "all ranks compute a result by the same expression.",
  rounds: "a rank sends and receives one message at most in a round, and none waits for another of its own round.",
  cost: "the declared cost is the one counted.",
  direct: "no rank touches a block between two others.",
};
