// The explorer: choices on the left, pictures in the middle, one panel of answers on the right.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Catalogue, FailureAnswer, Opened, Times, Verdict } from "./answers";
import { brought } from "./brought";
import { algorithmOf, Choice, MoreChoices } from "./controls";
import type { Engine } from "./engine";
import { Hint } from "./hint";
import { Legend } from "./legend";
import { PanelOf, panelNames } from "./panels/panels";
import { hashOf, panels, type Panel, type Place, placeFrom, type View, views } from "./place";
import { Scene, type State } from "./scene";
import { Stage } from "./stage";
import { Transport } from "./transport";
import type { Chosen } from "./views/view";

/** Something that has been opened, or the reason why not. */
export interface Shown {
  scene?: Scene;
  verdict?: Verdict;
  error?: string;
}

/** Opens what a place names, in a session of the engine, whenever it changes. */
function useShown(engine: Engine, session: number, id: string, place: Place, given: string): Shown {
  const [shown, setShown] = useState<Shown>({});
  const { p, root, inPlace, wrong } = place;
  useEffect(() => {
    if (id === "") {
      setShown({});
      return;
    }
    let current = true;
    const question =
      session === 0 && wrong === "given"
        ? engine.ask("open_text", { session, text: given })
        : session === 0 && wrong !== ""
          ? engine.ask("open_wrong", { session, name: wrong })
          : engine.ask("open", { session, id, p, root, in_place: inPlace });
    const show = async (opened: Opened) => {
      const scene = new Scene(opened, session, engine);
      await scene.at(0);
      if (!current) return;
      setShown({ scene, verdict: opened.verdict });
      if (opened.verdict !== undefined) return;
      const verdict = await engine.ask("verdict", { session });
      if (current) setShown({ scene, verdict });
    };
    question.then(show).catch((error: Error) => current && setShown({ error: error.message }));
    return () => {
      current = false;
    };
  }, [id, p, root, inPlace, session === 0 ? wrong : "", session === 0 ? given : ""]);
  return shown;
}

/** The state of a scene after k rounds; the one before stays until it is there. */
function useRounds(scene: Scene | undefined, k: number): State | undefined {
  const [state, setState] = useState<{ scene: Scene; state: State }>();
  useEffect(() => {
    if (scene === undefined) return;
    let current = true;
    void scene.at(Math.min(k, scene.opened.rounds)).then((next) => current && setState({ scene, state: next })).catch(() => undefined);
    return () => {
      current = false;
    };
  }, [scene, k]);
  return state?.scene === scene ? state?.state : undefined;
}

function useTimes(engine: Engine, scene: Scene | undefined, place: Place, wanted: boolean): Times | undefined {
  const [times, setTimes] = useState<{ scene: Scene; times: Times }>();
  const { bytes, alpha, beta, gamma, cores } = place;
  useEffect(() => {
    if (scene === undefined || !wanted || !scene.opened.executes) return;
    let current = true;
    const machine = { alpha_s: alpha, beta_s_per_byte: beta, gamma_s_per_byte: gamma };
    engine
      .ask("times", { session: scene.session, bytes, machine, cores })
      .then((next) => current && setTimes({ scene, times: next }))
      .catch(() => undefined);
    return () => {
      current = false;
    };
  }, [scene, wanted, bytes, alpha, beta, gamma, cores]);
  return times !== undefined && times.scene === scene ? times.times : undefined;
}

const viewNames: Record<View, string> = { circle: "Circle", matrix: "Rounds", time: "Time" };

/** The address and the place are the same thing. */
function usePlace(): [Place, (change: Partial<Place>) => void] {
  const [place, setPlace] = useState<Place>(() => {
    const first = location.hash.length > 1 ? placeFrom(location.hash) : placeFrom(brought.place);
    // A page that brings schedules along opens on them, unless its address asks for something else.
    const own = brought.schedules !== "" && location.hash.length <= 1;
    return own ? { ...first, panel: "given", wrong: "given" } : first;
  });
  const last = useRef("");
  useEffect(() => {
    last.current = hashOf(place);
    if (location.hash !== last.current) history.replaceState(null, "", last.current);
  }, [place]);
  useEffect(() => {
    const read = () => {
      if (decodeURIComponent(location.hash) !== last.current && location.hash !== last.current) setPlace(placeFrom(location.hash));
    };
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const go = useCallback((change: Partial<Place>) => setPlace((now) => ({ ...now, ...change })), []);
  return [place, go];
}

function useTheme(): [string, () => void] {
  const system = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [theme, setTheme] = useState(system.matches ? "dark" : "light");
  useEffect(() => {
    const follow = () => setTheme(system.matches ? "dark" : "light");
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  document.documentElement.dataset.theme = theme;
  return [theme, () => setTheme(theme === "dark" ? "light" : "dark")];
}

export function App({ engine, catalogue }: { engine: Engine; catalogue: Catalogue }) {
  const [place, go] = usePlace();
  const [theme, turn] = useTheme();
  const [given, setGiven] = useState(brought.schedules);
  const [chosen, choose] = useState<Chosen>();
  const [failure, setFailure] = useState<FailureAnswer>();
  const first = useShown(engine, 0, place.id, place, given);
  const second = useShown(engine, 1, place.beside, place, "");
  const rounds = Math.max(first.scene?.opened.rounds ?? 0, second.scene?.opened.rounds ?? 0);
  const k = Math.min(place.k, rounds);
  const firstState = useRounds(first.scene, k);
  const secondState = useRounds(second.scene, k);
  const firstTimes = useTimes(engine, first.scene, place, place.view === "time");
  const secondTimes = useTimes(engine, second.scene, place, place.view === "time");
  useEffect(() => choose(undefined), [first.scene]);

  const step = useCallback((to: number) => go({ k: Math.max(0, Math.min(to, rounds)) }), [rounds]);
  const common = { place, theme, chosen, choose };
  const algorithm = place.wrong === "" ? algorithmOf(catalogue, place.id) : undefined;
  return (
    <>
      <header>
        <h1>Circoll explorer</h1>
        <p>
          Collective algorithms as schedules: every picture, proof and time on this page comes from the library itself,
          which runs in it.
        </p>
        {brought.version !== "" && <span class="hint">{brought.version}</span>}
        {brought.home !== "" && <a href={brought.home}>Documentation</a>}
        <button type="button" class="plain" onClick={turn}>{theme === "dark" ? "Light colours" : "Dark colours"}</button>
      </header>
      <Hint />
      <main class={place.beside !== "" ? "beside" : ""}>
        <div class="left">
          <Choice catalogue={catalogue} place={place} go={go} />
          <MoreChoices catalogue={catalogue} place={place} go={go} />
        </div>
        <div class="middle">
          <Transport k={k} rounds={rounds} step={step} />
          <div class="tabs" role="tablist" aria-label="View">
            {views.map((view) => (
              <button key={view} type="button" role="tab" id={`view-${view}`} aria-selected={place.view === view}
                aria-controls="stages" onClick={() => go({ view })}>{viewNames[view]}</button>
            ))}
          </div>
          {first.scene && <Legend scene={first.scene} theme={theme} levels={{ cores: place.cores, nodes: place.nodes }} view={place.view} />}
          <div class="stages" id="stages" role="tabpanel" aria-labelledby={`view-${place.view}`}>
            <Stage {...common} number={0} shown={first} state={firstState} times={firstTimes}
              repair={place.panel === "failures" ? failure?.repair?.messages : undefined} />
            {place.beside !== "" && (
              <Stage {...common} number={1} shown={second} state={secondState} times={secondTimes} chosen={undefined} />
            )}
          </div>
        </div>
        <div class="right">
          <div class="tabs" role="tablist" aria-label="Answers">
            {panels.map((panel: Panel) => (
              <button key={panel} type="button" role="tab" id={`panel-${panel}`} aria-selected={place.panel === panel}
                aria-controls="panel" onClick={() => go({ panel })}>{panelNames[panel]}</button>
            ))}
          </div>
          <section id="panel" role="tabpanel" aria-labelledby={`panel-${place.panel}`} tabIndex={0}>
            <PanelOf engine={engine} catalogue={catalogue} place={{ ...place, k }} go={go} shown={first} second={second}
              state={firstState} chosen={chosen} choose={choose} algorithm={algorithm} given={given} setGiven={setGiven}
              failure={failure} setFailure={setFailure} theme={theme} />
          </section>
        </div>
      </main>
    </>
  );
}
