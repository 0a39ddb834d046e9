// A first visit: three sentences, which a reader closes for good.
import { useState } from "preact/hooks";

const key = "circoll-explorer-known";

// A browser may forbid storage to a page from a file. Then the hint comes again at the next visit.
function known(): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

function remember(): void {
  try {
    localStorage.setItem(key, "1");
  } catch {
    // Nothing can be done about it.
  }
}

export function Hint() {
  const [closed, close] = useState(known);
  if (closed) return null;
  return (
    <aside class="first" aria-label="First steps">
      <p>
        <strong>New here?</strong> Choose an algorithm, and press Play or the arrow keys to go from round to round.
        Click a rank, an arrow or a slot of the memory: the tab Details says what it is.
        You can paste a schedule of your own under Your schedule.
      </p>
      <button type="button" onClick={() => { remember(); close(true); }}>Close</button>
    </aside>
  );
}
