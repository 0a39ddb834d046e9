// Colours of sets of contributions, and the page's own.

/** Red, green and blue of a colour in OKLCH, as "#rrggbb". */
export function oklch(lightness: number, chroma: number, hue: number): string {
  const angle = (hue * Math.PI) / 180;
  const a = chroma * Math.cos(angle);
  const b = chroma * Math.sin(angle);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const part = (v: number) => {
    const shown = v <= 0.0031308 ? 12.92 * v : 1.055 * Math.max(v, 0) ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, shown)))
      .toString(16)
      .padStart(2, "0");
  };
  return "#" + linear.map(part).join("");
}

/** The colours that drawings take from the page, light or dark. */
export interface Palette {
  dark: boolean;
  ground: string;
  raised: string;
  text: string;
  quiet: string;
  rule: string;
  accent: string;
  across: string;
  beyond: string;
  wrong: string;
  focus: string;
}

export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    dark: of("--scheme") === "dark",
    ground: of("--ground"),
    raised: of("--raised"),
    text: of("--text"),
    quiet: of("--quiet"),
    rule: of("--rule"),
    accent: of("--accent"),
    across: of("--across"),
    beyond: of("--beyond"),
    wrong: of("--wrong"),
    focus: of("--focus"),
  };
}

export interface Tint {
  fill: string;
  text: string;
}

/** Where a set lies on the ring of ranks, 0 .. 1: the middle of its contributions. */
function middle(runs: readonly (readonly [number, number])[], p: number): number {
  let x = 0;
  let y = 0;
  for (const [first, last] of runs) {
    for (let r = first; r <= last; ++r) {
      x += Math.cos((2 * Math.PI * r) / p);
      y += Math.sin((2 * Math.PI * r) / p);
    }
  }
  if (Math.hypot(x, y) < 1e-9) return runs[0][0] / p;
  const turn = Math.atan2(y, x) / (2 * Math.PI);
  return turn < 0 ? turn + 1 : turn;
}

/**
 * The colour of a set of contributions: its hue says where on the ring of ranks they come from, and it gets stronger as
 * they become more. All of them have a colour of their own.
 */
export function tintOf(runs: readonly (readonly [number, number])[], p: number, complete: boolean, dark: boolean): Tint {
  if (complete) return dark ? { fill: "#3f9d6a", text: "#04140b" } : { fill: "#1f6f4a", text: "#ffffff" };
  const count = runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const share = p > 1 ? (count - 1) / (p - 1) : 0;
  const hue = 360 * middle(runs, p) + 25;
  if (dark) return { fill: oklch(0.42 + 0.2 * share, 0.09 + 0.03 * share, hue), text: share > 0.5 ? "#0b0f14" : "#f2f5f8" };
  return { fill: oklch(0.9 - 0.26 * share, 0.07 + 0.05 * share, hue), text: share > 0.7 ? "#0b0f14" : "#14181d" };
}
