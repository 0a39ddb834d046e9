// Going from round to round: by buttons, by keys, by itself.
import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "./words";

interface Props {
  k: number;
  rounds: number;
  step: (k: number) => void;
}

/** True for elements that use the arrow keys or the space bar themselves. */
function takesKeys(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, select, textarea, button, canvas, [role=tab], summary, a") !== null;
}

export function Transport({ k, rounds, step: show }: Props) {
  // Keys may come faster than the page is drawn: they count from where the last one has led.
  const latest = useRef(k);
  latest.current = k;
  const step = (to: number) => {
    latest.current = Math.max(0, Math.min(to, rounds));
    show(latest.current);
  };
  const [playing, setPlaying] = useState(false);
  const [pace, setPace] = useState(800);
  useEffect(() => {
    if (!playing) return;
    if (k >= rounds) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => step(k + 1), pace);
    return () => clearTimeout(timer);
  }, [playing, k, rounds, pace]);
  const play = () => {
    if (!playing && k >= rounds) step(0);
    setPlaying(!playing);
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (takesKeys(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const action = {
        ArrowLeft: () => step(latest.current - 1),
        ArrowRight: () => step(latest.current + 1),
        Home: () => step(0),
        End: () => step(rounds),
        " ": play,
      }[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const button = (label: string, sign: string, action: () => void, disabled = false) => (
    <button type="button" aria-label={label} title={label} onClick={action} disabled={disabled}>{sign}</button>
  );
  return (
    <div class="transport" role="group" aria-label="Rounds">
      {button("To the beginning", "|◀", () => step(0), k === 0)}
      {button("One round back", "◀", () => step(k - 1), k === 0)}
      <button type="button" class="play" onClick={play} disabled={rounds === 0}>{playing ? "Pause" : "Play"}</button>
      {button("One round on", "▶", () => step(k + 1), k >= rounds)}
      {button("To the end", "▶|", () => step(rounds), k >= rounds)}
      <input type="range" aria-label="Rounds that have ended" min={0} max={rounds} value={k}
        aria-valuetext={`${k} of ${plural(rounds, "round")} done`} onInput={(e) => step(Number(e.currentTarget.value))} />
      <span class="count" role="status">{`${k} of ${plural(rounds, "round")} done`}</span>
      <select class="pace" aria-label="Pace" value={pace} onChange={(e) => setPace(Number(e.currentTarget.value))}>
        <option value={1600}>slow</option>
        <option value={800}>medium</option>
        <option value={250}>fast</option>
      </select>
    </div>
  );
}
