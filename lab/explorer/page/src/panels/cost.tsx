// Predicted times: sliders of the machine, a ranking, and the chart of all algorithms over sizes.
import { useEffect, useState } from "preact/hooks";
import type { Chart, Ranking } from "../answers";
import { TimeChart } from "../chart";
import { PowerSlider } from "../fields";
import { idOf, partsOf } from "../place";
import { inBytes, inSeconds } from "../words";
import type { PanelProps } from "./panels";

/** The newest answer to a question that changes faster than it is answered. */
export function useLatest<T>(ask: () => Promise<T>, inputs: unknown[]): T | undefined {
  const [answer, setAnswer] = useState<T>();
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      ask()
        .then((next) => current && setAnswer(() => next))
        .catch(() => undefined);
    }, 30);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, inputs);
  return answer;
}

export function CostPanel({ engine, place, go, catalogue, theme }: PanelProps) {
  const { collective, algorithm } = partsOf(place.id);
  const machine = { alpha_s: place.alpha, beta_s_per_byte: place.beta, gamma_s_per_byte: place.gamma };
  const call = { collective, p: place.p, root: place.root, machine };
  const inputs = [place.id, place.p, place.root, place.alpha, place.beta, place.gamma];
  const ranking = useLatest<Ranking>(() => engine.ask("ranking", { ...call, bytes: place.bytes, id: place.id }), [...inputs, place.bytes]);
  const chart = useLatest<Chart>(() => engine.ask("chart", call), [collective, ...inputs.slice(1)]);
  const shown = ranking?.shown;
  const able = ranking?.ranking.filter((r) => r.time_s !== undefined) ?? [];
  const unable = ranking?.ranking.filter((r) => r.unmet !== undefined) ?? [];
  return (
    <>
      <h2>Predicted time</h2>
      <PowerSlider label="Vector m" shown={inBytes(place.bytes)} least={8} most={2 ** 28} steps={100} value={place.bytes}
        set={(bytes) => go({ bytes: Math.round(bytes) })} />
      <PowerSlider label="α, a message" shown={inSeconds(place.alpha)} least={1e-7} most={1e-3} steps={80} value={place.alpha}
        set={(alpha) => go({ alpha: Number(alpha.toPrecision(3)) })} />
      <PowerSlider label="β, a byte" shown={`${inSeconds(place.beta)} (${rate(place.beta)})`} least={1e-12} most={1e-6} steps={120}
        value={place.beta} set={(beta) => go({ beta: Number(beta.toPrecision(3)) })} />
      <PowerSlider label="γ, a byte combined" shown={inSeconds(place.gamma)} least={1e-13} most={1e-8} steps={100} value={place.gamma}
        set={(gamma) => go({ gamma: Number(gamma.toPrecision(3)) })} />
      <p class="presets">
        {[["a node", 0.5e-6, 0.1e-9], ["a fast network", 2e-6, 0.08e-9], ["Gigabit Ethernet", 30e-6, 8e-9]].map(([name, alpha, beta]) => (
          <button key={name} type="button" class="plain" onClick={() => go({ alpha: alpha as number, beta: beta as number })}>{name}</button>
        ))}
      </p>
      {shown && (
        <p id="shown-time">
          <strong>{algorithm}</strong>: {inSeconds(shown.time_s)} = {round(shown.alpha + shown.alpha_uni)} α + {inBytes(Math.round(shown.bytes + shown.bytes_uni))} β
          {shown.combined > 0 && ` + ${inBytes(Math.round(shown.combined))} γ`}
          {shown.alpha_uni > 0 && ", of which messages that go one way cost less"}
        </p>
      )}
      {chart && (
        <TimeChart chart={chart} bytes={place.bytes} highlight={algorithm} theme={theme}
          set={(bytes) => go({ bytes })} />
      )}
      <h3>Ranking at {inBytes(place.bytes)}</h3>
      <ol class="ranking">
        {able.map((r) => (
          <li key={r.name} class={r.name === algorithm ? "now" : ""}>
            <button type="button" class="plain" onClick={() => go({ id: idOf(collective, r.name, partsOf(`${collective}/${r.text}`).params), k: 0, wrong: "" })}>{r.text}</button>
            <span>{inSeconds(r.time_s!)}</span>
          </li>
        ))}
      </ol>
      {unable.length > 0 && (
        <details>
          <summary>{unable.length} cannot serve this call, or are not ranked</summary>
          <ul>{unable.map((r) => <li key={r.name}>{r.name}: {r.unmet}</li>)}</ul>
        </details>
      )}
      <p class="hint">
        {catalogue.collectives.find((c) => c.name === collective)?.reducing ? "For an operator that commutes. " : ""}
        Parameters are those of least predicted time. The model is that of `circoll cost`.
      </p>
    </>
  );
}

const round = (v: number) => Math.round(v * 100) / 100;
const rate = (beta: number) => {
  const bytes = 1 / beta;
  return bytes >= 1e9 ? `${(bytes / 1e9).toPrecision(3)} GB/s` : `${(bytes / 1e6).toPrecision(3)} MB/s`;
};
