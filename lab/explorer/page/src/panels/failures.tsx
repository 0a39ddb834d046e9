// A failure: which ranks die after how many rounds, what is lost, and the repair.
import { useEffect, useState } from "preact/hooks";
import { Field } from "../fields";
import { inSeconds, plural } from "../words";
import type { PanelProps } from "./panels";

/** The classes by their names in `circoll faults`: which result survivors can still make, and what that means. */
const classes: Record<string, { result: string; means: string }> = {
  BOTH: { result: "of all ranks, or of survivors only", means: "Every block can be put together either from all contributions or from the survivors' alone." },
  FULL: { result: "of all ranks", means: "Every block can be put together from all contributions, those of the failed ranks included." },
  SURV: { result: "of survivors only", means: "Every block can be put together from the survivors' contributions, and some block not from all." },
  MIX: { result: "of all ranks in some blocks, of survivors in others", means: "Every block can be put together, but some only with the contributions of the failed ranks and others only without." },
  NONE: { result: "none", means: "Some block can be put together neither way, so nothing that the survivors hold repairs the call." },
  UNKNOWN: { result: "not known", means: "The search took too long." },
};
const keeps: Record<string, string> = {
  live: "what their schedule still reads",
  buf: "their buffers, too",
  keep: "their own contribution, too",
  log: "every message that came, too",
};

export function FailuresPanel({ engine, shown, place, go, failure, setFailure }: PanelProps) {
  const { scene } = shown;
  const failed = place.failed.filter((r) => r < (scene?.p ?? 0));
  const [error, setError] = useState("");
  const [classesAt, setClassesAt] = useState<{ k: number; keep: string; classes: string[] }>();
  const machine = { alpha_s: place.alpha, beta_s_per_byte: place.beta, gamma_s_per_byte: place.gamma };
  useEffect(() => {
    setFailure(undefined);
    setError("");
    if (scene === undefined || failed.length === 0) return;
    let current = true;
    engine
      .ask("failure", { session: scene.session, k: Math.min(place.k, scene.opened.rounds), failed, keep: place.keep, repair: true, bytes: place.bytes, machine })
      .then((answer) => current && setFailure(answer))
      .catch((e: Error) => current && setError(e.message));
    return () => {
      current = false;
    };
  }, [scene, place.k, String(failed), place.keep, place.bytes, place.alpha, place.beta, place.gamma]);
  useEffect(() => {
    if (scene === undefined || scene.p < 2 || scene.p > 64) return;
    let current = true;
    const k = Math.min(place.k, scene.opened.rounds);
    engine
      .ask("failures", { session: scene.session, k, keep: place.keep })
      .then((list) => current && setClassesAt({ k, keep: place.keep, classes: list }))
      .catch((e: Error) => current && setError(e.message));
    return () => {
      current = false;
    };
  }, [scene, place.k, place.keep]);
  useEffect(() => () => setFailure(undefined), []);
  if (scene === undefined) return <p>Nothing is open.</p>;
  const toggle = (rank: number) =>
    go({ failed: failed.includes(rank) ? failed.filter((r) => r !== rank) : [...failed, rank].sort((a, b) => a - b) });
  const { outcome, repair } = failure ?? {};
  return (
    <>
      <h2>Ranks that fail</h2>
      {scene.p > 64 ? (
        <p>Failures are analysed for up to 64 ranks.</p>
      ) : (
        <>
          <p>Choose who fails when {place.k === 0 ? "no round has ended" : `${plural(place.k, "round")} ${place.k === 1 ? "has" : "have"} ended`}.
            The colour says what would be left if this rank failed alone.</p>
          <div class="ranks" role="group" aria-label="Ranks that fail">
            {Array.from({ length: scene.p }, (_, r) => {
              const name = classesAt?.classes[r]?.toUpperCase() ?? "";
              return (
                <button key={r} type="button" aria-pressed={failed.includes(r)} class={`class-${name.toLowerCase()}`}
                  title={classes[name]?.result} aria-label={`Rank ${r}${name === "" ? "" : `, alone, result: ${classes[name].result}`}`} onClick={() => toggle(r)}>{r}</button>
              );
            })}
          </div>
          <p class="hint" id="classes-title">The result that survivors can still make, and its name in <code>circoll faults</code>:</p>
          <ul class="legend classes" aria-labelledby="classes-title">
            {["BOTH", "FULL", "SURV", "MIX", "NONE"].map((name) => (
              <li key={name}><i class={`class-${name.toLowerCase()}`} aria-hidden="true" />{classes[name].result} ({name})</li>
            ))}
          </ul>
          <Field label="Survivors keep">
            {(id) => (
              <select id={id} value={place.keep} onChange={(e) => go({ keep: e.currentTarget.value })}>
                {Object.entries(keeps).map(([name, words]) => <option key={name} value={name}>{name}: {words}</option>)}
              </select>
            )}
          </Field>
        </>
      )}
      {error !== "" && <p class="error" role="alert">{error}</p>}
      {outcome && (
        <div id="outcome" role="status">
          <h3>Result that can still be made: {classes[outcome.class.toUpperCase()].result}</h3>
          <p>{classes[outcome.class.toUpperCase()].means}</p>
          <dl>
            <dt>Blocks in which data of a failed rank is lost</dt><dd>{outcome.lost} of {outcome.contributed}</dd>
            {outcome.copies !== null && <><dt>Survivors that hold such data, at least</dt><dd>{outcome.copies}</dd></>}
            {outcome.pieces !== null && <><dt>Values that a block is put together from, at most</dt><dd>{outcome.pieces}</dd></>}
          </dl>
        </div>
      )}
      {repair && (
        <div id="repair">
          <h3>Repair</h3>
          {repair.goal.toUpperCase() === "NONE" ? (
            <p>There is none: {repair.why_not}.</p>
          ) : (
            <>
              <p>A proven schedule by which the survivors get {repair.goal.toUpperCase() === "FULL" ? "the result of all contributions" : "the result of their own contributions"}.
                Its messages are in the circle: full lines in its first round, dashed later.</p>
              <dl>
                <dt>Rounds</dt><dd>{repair.rounds}</dd>
                <dt>The most that a rank sends</dt><dd>{plural(repair.sent!, "block")}</dd>
                <dt>Predicted time</dt><dd>{inSeconds(repair.time_s!)}</dd>
                {repair.missing! > 0 && <><dt>Blocks that nobody can bring back</dt><dd>{repair.missing}</dd></>}
              </dl>
            </>
          )}
        </div>
      )}
    </>
  );
}
