// Time over size of all algorithms, both logarithmic, with the best one and where it changes.
import { scaleLog } from "d3-scale";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Chart } from "./answers";
import { oklch } from "./colours";
import { inBytes, inSeconds } from "./words";

/** The best algorithm from a size on. */
interface Best {
  name: string;
  from: number;
}

function bestOf(chart: Chart): Best[] {
  const best: Best[] = [];
  chart.best.forEach((name, i) => {
    if (name !== "" && name !== best.at(-1)?.name) best.push({ name, from: chart.sizes[i] });
  });
  return best;
}

export function TimeChart({ chart, bytes, highlight, theme, set }: {
  chart: Chart;
  bytes: number;
  highlight: string;
  theme: string;
  set: (bytes: number) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(320);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => frame.current && setWidth(Math.max(240, frame.current.clientWidth)));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  const height = 250;
  const margin = { left: 52, right: 10, top: 10, bottom: 30 };
  const best = bestOf(chart);
  const winners = [...new Set(best.map((b) => b.name))];
  const every = Object.values(chart.series).flat().filter((t): t is number => t !== null && t > 0);
  const series = Object.entries(chart.series).filter(([, times]) => times.some((t) => t !== null && t > 0));
  if (every.length === 0) return <div ref={frame} class="chart" style={{ height: `${height}px` }}>No sizes: nothing is moved.</div>;
  const least = Math.min(...every);
  // What is a thousand times slower than the best is out of sight.
  const most = Math.min(Math.max(...every), Math.max(...chart.sizes.map((_, i) => Math.min(...series.map(([, t]) => t[i] ?? Infinity)))) * 30);
  const x = scaleLog([chart.sizes[0], chart.sizes.at(-1)!], [margin.left, width - margin.right]).base(2);
  const y = scaleLog([least * 0.8, most], [height - margin.bottom, margin.top]);
  const colour = (name: string) => {
    const i = winners.indexOf(name);
    if (i < 0) return "var(--rule)";
    return oklch(theme === "dark" ? 0.75 : 0.52, 0.13, 30 + (i * 360) / Math.max(winners.length, 3));
  };
  const path = (times: (number | null)[]) =>
    times.map((t, i) => (t === null ? "" : `${i > 0 && times[i - 1] !== null ? "L" : "M"}${x(chart.sizes[i]).toFixed(1)} ${y(t).toFixed(1)}`)).join("");
  const sizeTicks = [8, 1024, 32 * 1024, 1 << 20, 1 << 25].filter((b) => b >= chart.sizes[0] && b <= chart.sizes.at(-1)!);
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    set(Math.max(8, Math.round(x.invert(event.clientX - box.left))));
  };
  const order = [...series].sort(([a], [b]) => Number(winners.includes(a)) - Number(winners.includes(b)) || Number(a === highlight) - Number(b === highlight));
  return (
    <div ref={frame} class="chart">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" onClick={pick}
        aria-label={`Predicted time over size. Best: ${best.map((b) => `${b.name} from ${inBytes(b.from)}`).join(", ")}`}>
        <clipPath id="plot"><rect x={margin.left} y={margin.top} width={width - margin.left - margin.right} height={height - margin.top - margin.bottom} /></clipPath>
        {y.ticks(5).filter((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9).map((t) => (
          <g key={t}>
            <line class="grid" x1={margin.left} x2={width - margin.right} y1={y(t)} y2={y(t)} />
            <text x={margin.left - 6} y={y(t) + 4} text-anchor="end">{inSeconds(t)}</text>
          </g>
        ))}
        {sizeTicks.map((b) => (
          <text key={b} x={x(b)} y={height - 10} text-anchor={b === chart.sizes[0] ? "start" : "middle"}>{inBytes(b)}</text>
        ))}
        <g clip-path="url(#plot)">
          {order.map(([name, times]) => (
            <path key={name} d={path(times)} fill="none" stroke={name === highlight && !winners.includes(name) ? "var(--text)" : colour(name)}
              stroke-width={name === highlight ? 3 : winners.includes(name) ? 2 : 1} stroke-dasharray={name === highlight && !winners.includes(name) ? "5 3" : undefined}>
              <title>{name}</title>
            </path>
          ))}
          <line x1={x(Math.max(bytes, chart.sizes[0]))} x2={x(Math.max(bytes, chart.sizes[0]))} y1={margin.top} y2={height - margin.bottom} class="cursor" />
        </g>
      </svg>
      <ol class="best" id="best">
        {best.map((b) => (
          <li key={b.from}><i style={{ background: colour(b.name) }} aria-hidden="true" />{b.name} <span>from {inBytes(b.from)}</span></li>
        ))}
      </ol>
    </div>
  );
}
