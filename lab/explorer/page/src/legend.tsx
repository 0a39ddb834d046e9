// What the parts and colours of a picture mean. It stands above the picture.
import { useMemo } from "preact/hooks";
import { tintOf } from "./colours";
import type { Levels } from "./levels";
import type { Place } from "./place";
import type { Scene } from "./scene";

const parts: Record<Place["view"], string> = {
  circle: "A disc is a rank, its slices are blocks, and an arrow is a message of the last round.",
  matrix: "A row is a rank, a column is a round, and a cell is the message that the rank sends.",
  time: "A row is a rank, and a bar is one of its steps.",
};

interface Props {
  scene: Scene;
  theme: string;
  levels: Levels;
  view: Place["view"];
}

export function Legend({ scene, theme, levels, view }: Props) {
  const p = scene.p;
  const dark = theme === "dark";
  const samples = useMemo(() => {
    const few = Array.from({ length: Math.min(p, 12) }, (_, i) => Math.floor((i * p) / Math.min(p, 12)));
    return few.map((r) => ({ rank: r, fill: tintOf([[r, r]], p, false, dark).fill }));
  }, [p, dark]);
  const half = tintOf([[0, Math.max(0, Math.ceil(p / 2) - 1)]], p, false, dark).fill;
  const all = tintOf([[0, p - 1]], p, true, dark).fill;
  return (
    <ul class="legend" aria-label="Legend">
      <li>{parts[view]}</li>
      <li>
        <span class="ramp" aria-hidden="true">{samples.map((s) => <i key={s.rank} style={{ background: s.fill }} />)}</span>
        {scene.opened.combines ? "one contribution: the hue is its rank" : "data: the hue is the rank that it comes from"}
      </li>
      {scene.opened.combines && (
        <>
          <li><span class="ramp" aria-hidden="true"><i style={{ background: half }} /></span>several combined: a stronger colour</li>
          <li><span class="ramp" aria-hidden="true"><i style={{ background: all }} /></span>complete</li>
        </>
      )}
      <li><span class="ramp" aria-hidden="true"><i class="nothing" /></span>nothing</li>
      {levels.cores > 1 && <li><span class="ramp" aria-hidden="true"><i class="across" /></span>a message that leaves its node</li>}
      {levels.nodes > 1 && <li><span class="ramp" aria-hidden="true"><i class="beyond" /></span>a message that leaves its switch</li>}
    </ul>
  );
}
