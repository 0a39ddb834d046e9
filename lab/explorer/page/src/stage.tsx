// One algorithm on show: its picture, and the memory of its ranks.
import type { Times } from "./answers";
import type { Shown } from "./app";
import { Figure } from "./figure";
import type { Place } from "./place";
import type { State } from "./scene";
import { drawCircle } from "./views/circle";
import { drawMatrix } from "./views/matrix";
import { drawMemory, memoryHeight, memorySize } from "./views/memory";
import { drawTime } from "./views/time";
import type { Chosen, Draw, Drawing } from "./views/view";

interface Props {
  number: number;
  shown: Shown;
  state: State | undefined;
  place: Place;
  theme: string;
  chosen: Chosen | undefined;
  choose: (chosen: Chosen | undefined) => void;
  times: Times | undefined;
  repair?: Drawing["repair"];
}

export const drawers: Record<Place["view"], Draw> = { circle: drawCircle, matrix: drawMatrix, time: drawTime };
const labels: Record<Place["view"], string> = {
  circle: "Ranks on a circle with the messages of the last round",
  matrix: "Ranks and rounds",
  time: "Steps of all ranks over time",
};

/** The height of a picture that is so wide: fixed by p and view alone, so that nothing moves from round to round. */
export function pictureSize(view: Place["view"], p: number, width: number): { width: number; height: number } {
  if (view === "circle") return { width, height: Math.min(width, 600) };
  const row = p <= 16 ? 28 : p <= 40 ? 16 : p <= 80 ? 9 : 6;
  return { width, height: Math.max(220, 60 + p * row) };
}

/** What is common to pictures on the page and in files. */
export function drawingOf(props: Pick<Props, "shown" | "state" | "place" | "chosen" | "times" | "repair">): Omit<Drawing, "palette" | "width" | "height"> | undefined {
  const { shown, state, place } = props;
  if (shown.scene === undefined || state === undefined) return undefined;
  const refutation = shown.verdict?.refutation;
  return {
    scene: shown.scene,
    state,
    levels: { cores: place.cores, nodes: place.nodes },
    failed: place.panel === "failures" ? place.failed.filter((r) => r < shown.scene!.p) : [],
    chosen: props.chosen,
    marked: refutation && { rank: refutation.rank, step: refutation.step, block: refutation.block },
    times: props.times,
    bytes: place.bytes,
    repair: props.repair,
  };
}

export function Stage(props: Props) {
  const { number, shown, place, theme, choose } = props;
  const { scene } = shown;
  const p = scene?.p ?? place.p;
  const drawing = drawingOf(props);
  const suffix = number === 0 ? "" : "-2";
  const id = number === 0 && place.wrong === "" ? place.id : number === 0 ? (scene?.opened.id ?? "") : place.beside;
  return (
    <section class="stage" aria-label={number === 0 ? "The algorithm" : "The algorithm beside it"}>
      <h2>
        <span class="id">{id}</span>
        <Badge shown={shown} />
      </h2>
      {shown.error !== undefined && <p class="error" role="alert">{shown.error}</p>}
      {props.state?.stopped && <p class="error">Execution stops: {props.state.stopped.what}.</p>}
      <Figure name={`picture${suffix}`} label={labels[place.view]} draw={drawers[place.view]} drawing={drawing} theme={theme}
        height={(width) => pictureSize(place.view, p, width)} onChoose={choose} />
      <h3>Memory: what every slot holds</h3>
      <div class="scroll">
        <Figure name={`memory${suffix}`} label="The memory of all ranks" draw={drawMemory} drawing={drawing} theme={theme}
          height={(width) => (scene ? memorySize(scene, width) : { width, height: memoryHeight(p) })} onChoose={choose} />
      </div>
    </section>
  );
}

function Badge({ shown }: { shown: Shown }) {
  if (shown.verdict === undefined) return <span class="badge quiet">{shown.error === undefined ? "…" : "not opened"}</span>;
  return shown.verdict.proven ? (
    <span class="badge proven">proven for this call</span>
  ) : (
    <span class="badge refuted">refuted: {shown.verdict.refutation!.claim}</span>
  );
}
