// The panel on the right: one of several answers about what is on show.
import type { Algorithm, Catalogue, FailureAnswer } from "../answers";
import type { Shown } from "../app";
import type { Engine } from "../engine";
import type { Panel, Place } from "../place";
import type { State } from "../scene";
import type { Chosen } from "../views/view";
import { CostPanel } from "./cost";
import { DetailsPanel } from "./details";
import { ExportPanel } from "./export";
import { FailuresPanel } from "./failures";
import { GivenPanel } from "./given";
import { ProofPanel } from "./proof";
import { WrongPanel } from "./wrong";

export interface PanelProps {
  engine: Engine;
  catalogue: Catalogue;
  place: Place;
  go: (change: Partial<Place>) => void;
  shown: Shown;
  second: Shown;
  state: State | undefined;
  chosen: Chosen | undefined;
  choose: (chosen: Chosen | undefined) => void;
  algorithm: Algorithm | undefined;
  given: string;
  setGiven: (text: string) => void;
  failure: FailureAnswer | undefined;
  setFailure: (failure: FailureAnswer | undefined) => void;
  theme: string;
}

export const panelNames: Record<Panel, string> = {
  details: "Details",
  cost: "Cost",
  failures: "Failures",
  proof: "Proof",
  wrong: "Faulty examples",
  given: "Your schedule",
  export: "Export",
};

export function PanelOf(props: PanelProps) {
  switch (props.place.panel) {
    case "details":
      return <DetailsPanel {...props} />;
    case "cost":
      return <CostPanel {...props} />;
    case "failures":
      return <FailuresPanel {...props} />;
    case "proof":
      return <ProofPanel {...props} />;
    case "wrong":
      return <WrongPanel {...props} />;
    case "given":
      return <GivenPanel {...props} />;
    case "export":
      return <ExportPanel {...props} />;
  }
}
