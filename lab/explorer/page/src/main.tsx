// The page begins: the library is unpacked, says what it has, and everything is drawn.
import { render } from "preact";
import { App } from "./app";
import { Engine } from "./engine";

const root = document.getElementById("app")!;
const engine = new Engine();
engine
  .ask("catalogue")
  .then((catalogue) => {
    root.textContent = "";
    render(<App engine={engine} catalogue={catalogue} />, root);
  })
  .catch((error: Error) => {
    root.textContent = `The explorer cannot start in this browser: ${error.message}`;
    root.setAttribute("role", "alert");
  });
