// The thing that is chosen: a message, a slot, or a rank; else the algorithm.
import { useEffect, useState } from "preact/hooks";
import type { StepInWords } from "../answers";
import { apart, belowSwitch } from "../levels";
import { blockName, bufferName, runsInWords, type Scene, type State, valueInWords } from "../scene";
import { inBytes, plural } from "../words";
import type { PanelProps } from "./panels";

export function DetailsPanel(props: PanelProps) {
  const { chosen, shown, state } = props;
  const { scene } = shown;
  if (chosen === undefined || scene === undefined || state === undefined) return <AboutAlgorithm {...props} />;
  switch (chosen.kind) {
    case "message":
    case "step":
      return <AboutStep {...props} scene={scene} rank={chosen.rank} step={chosen.step} />;
    case "slot":
      return <AboutSlot {...props} scene={scene} state={state} rank={chosen.rank} buffer={chosen.buffer} slot={chosen.slot} />;
    case "rank":
      return <AboutRank {...props} scene={scene} rank={chosen.rank} />;
  }
}

/** An answer of the engine, asked again when the question changes. */
function useAnswer<T>(ask: () => Promise<T>, inputs: unknown[]): T | undefined {
  const [answer, setAnswer] = useState<T>();
  useEffect(() => {
    let current = true;
    ask()
      .then((next) => current && setAnswer(() => next))
      .catch(() => current && setAnswer(undefined));
    return () => {
      current = false;
    };
  }, inputs);
  return answer;
}

function AboutAlgorithm({ algorithm, shown, place }: PanelProps) {
  const { verdict, scene } = shown;
  return (
    <>
      <h2>{algorithm ? algorithm.name : (scene?.opened.id ?? "Nothing is open")}</h2>
      {algorithm && (
        <>
          <dl>
            <dt>Family</dt><dd>{algorithm.family}</dd>
            <dt>Source</dt><dd>{algorithm.source}</dd>
            <dt>The one to take</dt><dd>{algorithm.when}</dd>
            <dt>Needs</dt><dd>{algorithm.needs.length > 0 ? algorithm.needs.join(", ") : "nothing: any p, any operator"}</dd>
            {algorithm.gives.length > 0 && <><dt>Gives</dt><dd>{algorithm.gives.join("; ")}</dd></>}
            <dt>Rounds</dt><dd><code>{algorithm.rounds}</code></dd>
            <dt>Blocks sent</dt><dd><code>{algorithm.sent}</code></dd>
            <dt>Blocks combined</dt><dd><code>{algorithm.reduced}</code></dd>
          </dl>
          <pre class="formula">{algorithm.time}</pre>
        </>
      )}
      {verdict && scene && (
        <>
          <h3>Counted for p = {place.wrong === "" ? place.p : scene.p}</h3>
          <dl>
            <dt>Rounds</dt><dd>{verdict.counted.rounds}</dd>
            <dt>Blocks</dt><dd>{scene.opened.blocks}</dd>
            <dt>Messages</dt><dd>{verdict.messages}</dd>
            <dt>The most that a rank sends</dt><dd>{plural(verdict.counted.sent, "block")}</dd>
            <dt>The most that it combines</dt><dd>{plural(verdict.counted.reduced, "block")}</dd>
          </dl>
        </>
      )}
      {place.cores > 1 && scene && <Crossing id="crossing" scene={scene} ranks={place.cores} title={`Between nodes of ${place.cores}`} part="node" />}
      {place.nodes > 1 && scene && (
        <Crossing id="crossing-switches" scene={scene} ranks={belowSwitch(place)} title={`Between switches of ${place.nodes} nodes`} part="switch" />
      )}
      <p class="hint">Click a message, a slot or a rank, or go to it with the arrow keys.</p>
    </>
  );
}

interface CrossingProps {
  id: string;
  scene: Scene;
  ranks: number;
  title: string;
  part: string;
}

/** What passes between parts of the machine, nodes or switches, with so many ranks in each. */
function Crossing({ id, scene, ranks, title, part }: CrossingProps) {
  const number = (rank: number) => Math.floor(rank / ranks);
  let messages = 0;
  let blocks = 0;
  let all = 0;
  let most = 0;
  for (const round of scene.rounds) {
    const leaves = new Map<number, number>();
    for (const m of round) {
      ++all;
      if (!apart(ranks, m.from, m.to)) continue;
      ++messages;
      blocks += m.blocks;
      leaves.set(number(m.from), (leaves.get(number(m.from)) ?? 0) + m.blocks);
    }
    most += Math.max(0, ...leaves.values());
  }
  return (
    <>
      <h3>{title}</h3>
      <dl id={id}>
        <dt>Messages that leave their {part}</dt><dd>{messages} of {all}</dd>
        <dt>Blocks in them</dt><dd>{blocks}</dd>
        <dt>The busiest {part} of each round, summed up</dt><dd>{plural(most, "block")}</dd>
      </dl>
    </>
  );
}

function End({ scene, step, title }: { scene: Scene; step: StepInWords; title: string }) {
  return (
    <>
      <h3>{title}</h3>
      <p>Step {step.step} of rank {step.rank}: {step.text}.</p>
      {step.waits.length === 0 ? (
        <p>It waits for nothing: its rank may do it at once.</p>
      ) : (
        <>
          <p>It waits for</p>
          <ul class="waits">
            {step.waits.map((w) => (
              <li key={w.step}>
                step {w.step}{w.round < scene.opened.rounds ? `, round ${w.round}` : ""}: {w.text}. <em>Because {w.why}.</em>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function AboutStep({ engine, scene, rank, step, place }: PanelProps & { scene: Scene; rank: number; step: number }) {
  const answer = useAnswer(() => engine.ask("step", { session: scene.session, rank, step, bytes: place.bytes }),
    [scene, rank, step, place.bytes]);
  if (answer === undefined || answer.rank !== rank || answer.step !== step) return <p>…</p>;
  const message = answer.peer >= 0;
  const from = answer.kind === "send" ? answer.rank : answer.peer;
  const to = answer.kind === "send" ? answer.peer : answer.rank;
  return (
    <>
      <h2>{message ? `Message ${from} → ${to}` : `Step ${step} of rank ${rank}`}</h2>
      {message && (
        <dl>
          <dt>Round</dt><dd>{answer.round}</dd>
          <dt>Blocks</dt>
          <dd>{answer.blocks!.length === 0 ? "none" : answer.blocks!.slice(0, 24).map((b) => blockName(scene.opened, b)).join(", ")}
            {answer.blocks!.length > 24 ? `, … (${answer.blocks!.length})` : ""}</dd>
          <dt>Bytes</dt><dd>{inBytes(answer.bytes!)} of a vector of {inBytes(place.bytes)}</dd>
          <dt>Out of</dt><dd><code>{answer.kind === "send" ? answer.slots : (answer.other?.slots ?? "?")}</code></dd>
          <dt>Into</dt><dd><code>{answer.kind === "send" ? (answer.other?.slots ?? "nothing: nobody receives it") : answer.slots}</code></dd>
        </dl>
      )}
      <End scene={scene} step={answer} title={answer.kind === "send" ? "The sender" : "The step"} />
      {answer.other && <End scene={scene} step={answer.other} title={answer.kind === "send" ? "The receiver" : "The sender"} />}
    </>
  );
}

function AboutSlot({ engine, scene, state, rank, buffer, slot }: PanelProps & {
  scene: Scene;
  state: State;
  rank: number;
  buffer: number;
  slot: number;
}) {
  const value = state.memory[rank]?.[buffer]?.[slot];
  const order = useAnswer(
    () => (value && value.leaves > 1 ? engine.ask("value", { session: scene.session, value: value.number }) : Promise.resolve({ text: "" })),
    [scene, state, value?.number],
  );
  const block = scene.opened.buffers[rank]?.[buffer]?.blocks[slot];
  if (block === undefined) return <p>There is no such slot any more.</p>;
  return (
    <>
      <h2>{bufferName(buffer)}[{slot}] of rank {rank}</h2>
      <dl>
        <dt>Holds</dt><dd>{blockName(scene.opened, block)}</dd>
        <dt>Now</dt><dd>it {valueInWords(scene, value, rank)}</dd>
        {value && scene.opened.combines && <><dt>Ranks</dt><dd>{runsInWords(value.runs, 40)}</dd></>}
      </dl>
      {order && order.text !== "" && (
        <>
          <h3>In which order they were combined</h3>
          <pre class="formula" id="order">{order.text}</pre>
        </>
      )}
    </>
  );
}

function AboutRank({ engine, scene, rank, choose, place, state }: PanelProps & { scene: Scene; rank: number }) {
  const steps = useAnswer(() => engine.ask("steps", { session: scene.session, rank }), [scene, rank]);
  return (
    <>
      <h2>Rank {rank}</h2>
      <p>{plural(steps?.length ?? 0, "step")}, in the order in which they are written. What waits for what follows from the slots.</p>
      <ol class="steps" start={0}>
        {(steps ?? []).slice(0, 400).map(([round, text], i) => (
          <li key={i} class={round === place.k - 1 && state ? "now" : ""} value={i}>
            <button type="button" class="plain" onClick={() => choose({ kind: "step", rank, step: i })}>
              {round < scene.opened.rounds ? `round ${round}: ` : "at the end: "}{text}
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}
