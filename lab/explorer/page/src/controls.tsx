// The choice of a call: collective, algorithm, ranks, root, parameters.
import type { Algorithm, Catalogue, Collective } from "./answers";
import { idOf, partsOf, type Place } from "./place";
import { Field, NumberField } from "./fields";

interface Props {
  catalogue: Catalogue;
  place: Place;
  go: (change: Partial<Place>) => void;
}

export function collectiveOf(catalogue: Catalogue, id: string): Collective | undefined {
  return catalogue.collectives.find((c) => c.name === partsOf(id).collective);
}
export function algorithmOf(catalogue: Catalogue, id: string): Algorithm | undefined {
  return collectiveOf(catalogue, id)?.algorithms.find((a) => a.name === partsOf(id).algorithm);
}

/** A value of a parameter that is not the default one stands in the id. */
function withParam(id: string, name: string, value: number, fallback: number): string {
  const { collective, algorithm, params } = partsOf(id);
  if (value === fallback) delete params[name];
  else params[name] = value;
  return idOf(collective, algorithm, params);
}

export function AlgorithmChoice({ label, collective, id, none, choose }: {
  label: string;
  collective: Collective;
  id: string;
  none?: string;
  choose: (id: string) => void;
}) {
  const families = [...new Set(collective.algorithms.map((a) => a.family))];
  return (
    <Field label={label}>
      {(name) => (
        <select id={name} value={id === "" ? "" : partsOf(id).algorithm}
          onChange={(e) => choose(e.currentTarget.value === "" ? "" : idOf(collective.name, e.currentTarget.value, {}))}>
          {none !== undefined && <option value="">{none}</option>}
          {families.map((family) => (
            <optgroup key={family} label={family}>
              {collective.algorithms.filter((a) => a.family === family).map((a) => (
                <option key={a.name} value={a.name}>{a.name}</option>
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Params({ algorithm, id, choose }: { algorithm: Algorithm; id: string; choose: (id: string) => void }) {
  const { params } = partsOf(id);
  return (
    <>
      {algorithm.params.map((param) => (
        <NumberField key={param.name} label={param.name} hint={param.summary} least={param.least} most={param.most}
          value={params[param.name] ?? param.fallback}
          set={(value) => choose(withParam(id, param.name, value, param.fallback))} />
      ))}
    </>
  );
}

/** What both parts of the form are about. */
function called({ catalogue, place, go }: Props) {
  return {
    collective: collectiveOf(catalogue, place.id) ?? catalogue.collectives[0],
    algorithm: algorithmOf(catalogue, place.id),
    change: (update: Partial<Place>) => go({ wrong: "", ...update }),
  };
}

/** Collective, algorithm and ranks, which come first on every screen. */
export function Choice(props: Props) {
  const { catalogue, place } = props;
  const { collective, algorithm, change } = called(props);
  const chooseCollective = (name: string) => {
    const next = catalogue.collectives.find((c) => c.name === name)!;
    const kept =
      next.algorithms.find((a) => a.name === partsOf(place.id).algorithm) ?? next.algorithms.find((a) => a.name.startsWith("circulant")) ?? next.algorithms[0];
    change({ id: idOf(name, kept.name, {}), k: 0, beside: "", inPlace: place.inPlace && next.in_place, root: next.rooted ? place.root : 0 });
  };
  const chooseRanks = (p: number) => change({ p, k: 0, root: Math.min(place.root, p - 1), failed: [] });
  return (
    <form class="controls choice" onSubmit={(e) => e.preventDefault()} aria-label="The call">
      <Field label="Collective">
        {(name) => (
          <select id={name} value={collective.name} onChange={(e) => chooseCollective(e.currentTarget.value)}>
            {catalogue.collectives.map((c) => <option key={c.name} value={c.name}>{c.name}</option>)}
          </select>
        )}
      </Field>
      <AlgorithmChoice label="Algorithm" collective={collective} id={place.id} choose={(id) => change({ id, k: 0 })} />
      {algorithm && <p class="hint summary">{algorithm.summary}</p>}
      <NumberField label="Ranks p" least={1} most={2 ** 31 - 1} value={place.p} set={chooseRanks} />
      <input type="range" aria-label="Ranks p, by slider" min={1} max={128} value={Math.min(place.p, 128)}
        onInput={(e) => chooseRanks(Number(e.currentTarget.value))} />
    </form>
  );
}

/** Root, parameters, memory, nodes, and a second algorithm. On a narrow screen they stand below the pictures. */
export function MoreChoices(props: Props) {
  const { place, go } = props;
  const { collective, algorithm, change } = called(props);
  const relabels = partsOf(place.id).params.relabel !== undefined;
  return (
    <form class="controls" onSubmit={(e) => e.preventDefault()} aria-label="More of the call">
      {collective.rooted && (
        <NumberField label="Root" least={0} most={place.p - 1} value={place.root} set={(root) => change({ root, k: 0 })} />
      )}
      {algorithm && <Params algorithm={algorithm} id={place.id} choose={(id) => change({ id, k: 0 })} />}
      {collective.in_place && (
        <label class="check">
          <input type="checkbox" checked={place.inPlace} onChange={(e) => change({ inPlace: e.currentTarget.checked, k: 0 })} />
          In place (MPI_IN_PLACE)
        </label>
      )}
      <NumberField label="Ranks on a node" least={1} most={4096} value={place.cores}
        set={(cores) => change({ cores, id: relabels ? withParam(place.id, "relabel", cores, 1) : place.id })} />
      <NumberField label="Nodes below a switch" least={1} most={4096} value={place.nodes} set={(nodes) => change({ nodes })} />
      {collective.relabels && (
        <label class="check">
          <input type="checkbox" checked={relabels} disabled={place.cores < 2}
            onChange={(e) => change({ id: withParam(place.id, "relabel", e.currentTarget.checked ? place.cores : 1, 1), k: 0 })} />
          Relabel ranks across nodes
        </label>
      )}
      <AlgorithmChoice label="Compare with" collective={collective} id={place.beside} none="nothing" choose={(beside) => go({ beside })} />
    </form>
  );
}
