// A gallery of schedules with one instructive fault each.
import { useEffect, useState } from "preact/hooks";
import type { Exhibit } from "../answers";
import type { PanelProps } from "./panels";
import { RefutationText } from "./proof";

export function WrongPanel({ engine, place, go, shown }: PanelProps) {
  const [gallery, setGallery] = useState<Exhibit[]>([]);
  useEffect(() => {
    void engine.ask("gallery").then(setGallery);
  }, []);
  const exhibit = gallery.find((e) => e.name === place.wrong);
  const { verdict } = shown;
  const show = (wrong: string) => go({ wrong, k: 0, beside: "", failed: [] });
  return (
    <>
      <h2>Faulty examples</h2>
      <p>Each schedule has one fault. Step through it, and see where the proof finds it.</p>
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
          {verdict?.refutation && <RefutationText refutation={verdict.refutation} />}
          <p class="buttons"><button type="button" onClick={() => show("")}>Back to the algorithm</button></p>
        </>
      )}
    </>
  );
}
