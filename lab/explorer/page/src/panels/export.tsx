// Files of what is on show: pictures, and schedules for other tools.
import { useState } from "preact/hooks";
import { paletteOf } from "../colours";
import { SvgPainter } from "../painter";
import { drawers, drawingOf, pictureSize } from "../stage";
import { drawMemory, memorySize } from "../views/memory";
import type { Draw } from "../views/view";
import type { PanelProps } from "./panels";

function save(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const forms = [
  { form: "svg", name: "All rounds as SVG", end: "svg", type: "image/svg+xml" },
  { form: "text", name: "Schedules as text", end: "txt", type: "text/plain" },
  { form: "json", name: "Schedules as JSON", end: "json", type: "application/json" },
  { form: "goal", name: "GOAL for simulators", end: "goal", type: "text/plain" },
  { form: "dot", name: "Graph for Graphviz", end: "dot", type: "text/plain" },
  { form: "msccl", name: "XML for MSCCL", end: "xml", type: "application/xml" },
];

export function ExportPanel(props: PanelProps) {
  const { engine, place, shown, state, chosen } = props;
  const [said, setSaid] = useState("");
  const { scene } = shown;
  if (scene === undefined) return <p>Nothing is open.</p>;
  const base = `${scene.opened.id.replace(/[^a-z0-9_]+/gi, "_")}_p${scene.p}`;
  const picture = async (name: string, draw: Draw, size: { width: number; height: number }) => {
    const machine = { alpha_s: place.alpha, beta_s_per_byte: place.beta, gamma_s_per_byte: place.gamma };
    const times = place.view === "time" ? await engine.ask("times", { session: scene.session, bytes: place.bytes, machine, cores: place.cores }) : undefined;
    const drawing = drawingOf({ shown, state, place, chosen, times, repair: undefined });
    if (drawing === undefined) return;
    const palette = paletteOf(document.documentElement);
    const painter = new SvgPainter(size.width, size.height, palette.ground);
    draw(painter, { ...drawing, ...size, palette });
    save(`${base}_${name}.svg`, painter.svg(`${scene.opened.id}, p = ${scene.p}, after ${place.k} rounds`), "image/svg+xml");
    setSaid(`${base}_${name}.svg was written.`);
  };
  const form = async ({ form: which, end, type }: (typeof forms)[number]) => {
    try {
      const { text } = await engine.ask("form", { session: scene.session, form: which, bytes: place.bytes, gamma_ns_per_byte: place.gamma * 1e9 });
      save(`${base}.${end}`, text, type);
      setSaid(`${base}.${end} was written.`);
    } catch (error) {
      setSaid((error as Error).message);
    }
  };
  return (
    <>
      <h2>Export</h2>
      <h3>The pictures on show</h3>
      <p class="buttons column">
        <button type="button" onClick={() => void picture(place.view, drawers[place.view], pictureSize(place.view, scene.p, 720))}>Picture as SVG</button>
        <button type="button" onClick={() => void picture("memory", drawMemory, memorySize(scene, 720))}>Memory as SVG</button>
      </p>
      <h3>The schedules</h3>
      <p class="buttons column">
        {forms.map((f) => <button key={f.form} type="button" onClick={() => void form(f)}>{f.name}</button>)}
      </p>
      <p role="status" id="export-status">{said}</p>
      <h3>A link to this place</h3>
      <p class="hint">The address of the page has all choices, but not your schedule.{place.wrong === "" && " On the command line:"}</p>
      {place.wrong === "" && <pre class="formula">circoll explore {place.id} -p {place.p}{place.root > 0 ? ` --root ${place.root}` : ""}{place.inPlace ? " --in-place" : ""}</pre>}
    </>
  );
}
