// Wrong schedules: a gallery of instructive faults, and schedules that people paste.
import { useEffect, useState } from "preact/hooks";
import type { Exhibit } from "../answers";
import { Field } from "../fields";
import type { PanelProps } from "./panels";
import { RefutationText } from "./proof";

export function WrongPanel({ engine, place, go, shown, given, setGiven }: PanelProps) {
  const [gallery, setGallery] = useState<Exhibit[]>([]);
  const [text, setText] = useState(given);
  useEffect(() => {
    void engine.ask("gallery").then(setGallery);
  }, []);
  const exhibit = gallery.find((e) => e.name === place.wrong);
  const { verdict } = shown;
  const show = (wrong: string) => go({ wrong, k: 0, beside: "", failed: [] });
  return (
    <>
      <h2>Wrong schedules</h2>
      <p>Each has one fault. Step through it, and see where the proof finds it.</p>
      <ul class="gallery">
        {gallery.map((e) => (
          <li key={e.name}>
            <button type="button" aria-pressed={e.name === place.wrong} onClick={() => show(e.name)}>{e.title}</button>
          </li>
        ))}
      </ul>
      {exhibit && (
        <>
          <h3>{exhibit.title}</h3>
          <p>{exhibit.lesson}</p>
        </>
      )}
      {place.wrong !== "" && verdict && (verdict.proven ? <p id="given-verdict">It is proven: nothing is wrong with it.</p> : <RefutationText refutation={verdict.refutation!} go={go} />)}
      <h3>Your own</h3>
      <Field label="Schedules of all ranks, as text, JSON, or XML of MSCCL" hint="The forms that 'circoll show' writes. The panel Export has them for the algorithm on show: change something, and look.">
        {(id) => (
          <textarea id={id} rows={8} spellcheck={false} value={text} onInput={(e) => setText(e.currentTarget.value)} />
        )}
      </Field>
      <p class="buttons">
        <button type="button" disabled={text.trim() === ""} onClick={() => { setGiven(text); show("given"); }}>Prove and show</button>
        <button type="button" disabled={place.wrong === ""} onClick={() => show("")}>Back to the algorithm</button>
      </p>
      {place.wrong === "given" && shown.error !== undefined && <p class="error" role="alert">{shown.error}</p>}
    </>
  );
}
