// A schedule of one's own: pasted, or brought along by `circoll explore FILE`. It is proven or refuted, and shown.
import { useState } from "preact/hooks";
import { Field } from "../fields";
import type { PanelProps } from "./panels";
import { RefutationText } from "./proof";

export function GivenPanel({ place, go, shown, given, setGiven }: PanelProps) {
  const [text, setText] = useState(given);
  const open = place.wrong === "given";
  const { verdict } = shown;
  const show = (wrong: string) => go({ wrong, k: 0, beside: "", failed: [] });
  return (
    <>
      <h2>Your schedule</h2>
      <Field label="Schedules of all ranks, as text, JSON, or XML of MSCCL" hint="'circoll show' and the tab Export write these forms. Change something in one, and see what the proof finds.">
        {(id) => (
          <textarea id={id} rows={12} spellcheck={false} value={text} onInput={(e) => setText(e.currentTarget.value)} />
        )}
      </Field>
      <p class="buttons">
        <button type="button" disabled={text.trim() === ""} onClick={() => { setGiven(text); show("given"); }}>Prove and show</button>
        <button type="button" disabled={!open} onClick={() => show("")}>Back to the algorithm</button>
      </p>
      {open && verdict?.proven && <p id="given-verdict">The schedule is proven.</p>}
      {open && verdict?.refutation && <RefutationText refutation={verdict.refutation} />}
      {open && shown.error !== undefined && <p class="error" role="alert">{shown.error}</p>}
    </>
  );
}
