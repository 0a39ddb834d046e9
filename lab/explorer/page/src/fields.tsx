// Labelled fields.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";

export function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ComponentChildren }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

/** A whole number. What is typed counts once it is a number within the bounds. */
export function NumberField({ label, hint, least, most, value, set }: {
  label: string;
  hint?: string;
  least: number;
  most: number;
  value: number;
  set: (value: number) => void;
}) {
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  const number = Number(text);
  const good = /^\d+$/.test(text) && number >= least && number <= most;
  return (
    <Field label={label} hint={good ? hint : `a whole number from ${least} to ${most}`}>
      {(id) => (
        <input id={id} type="number" inputMode="numeric" min={least} max={most} value={text} aria-invalid={!good}
          onInput={(e) => {
            const typed = e.currentTarget.value;
            setText(typed);
            const next = Number(typed);
            if (/^\d+$/.test(typed) && next >= least && next <= most && next !== value) set(next);
          }} />
      )}
    </Field>
  );
}

/** A slider over powers. */
export function PowerSlider({ label, shown, least, most, steps, value, set }: {
  label: string;
  shown: string;
  least: number;
  most: number;
  steps: number;
  value: number;
  set: (value: number) => void;
}) {
  const at = Math.round((steps * Math.log(Math.max(value, least) / least)) / Math.log(most / least));
  return (
    <Field label={label}>
      {(id) => (
        <div class="slider">
          <input id={id} type="range" min={0} max={steps} value={at} aria-valuetext={shown}
            onInput={(e) => set(least * (most / least) ** (Number(e.currentTarget.value) / steps))} />
          <output for={id}>{shown}</output>
        </div>
      )}
    </Field>
  );
}
