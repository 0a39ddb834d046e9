// Drawing on a canvas or into SVG text, by the same calls.

export type Align = "left" | "center" | "right";

/** The few things that the views draw. Lengths are in CSS pixels. */
export interface Painter {
  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string, width?: number, radius?: number): void;
  line(points: readonly (readonly [number, number])[], stroke: string, width: number, dash?: readonly number[]): void;
  /** From `a`, bent towards `bend`, to `b`. */
  curve(a: Point, bend: Point, b: Point, stroke: string, width: number, dash?: readonly number[]): void;
  polygon(points: readonly Point[], fill: string): void;
  disc(x: number, y: number, radius: number, fill: string, stroke?: string, width?: number): void;
  /** A part of a disc, from one share of the turn to another, clockwise from the top. */
  slice(x: number, y: number, radius: number, from: number, to: number, fill: string): void;
  text(x: number, y: number, text: string, size: number, fill: string, align?: Align, bold?: boolean): void;
  textWidth(text: string, size: number): number;
}

export type Point = readonly [number, number];

const family = 'system-ui, "DejaVu Sans", "Helvetica Neue", Arial, sans-serif';

export class CanvasPainter implements Painter {
  constructor(private readonly c: CanvasRenderingContext2D) {}

  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string, width = 1, radius = 0): void {
    const { c } = this;
    c.beginPath();
    if (radius > 0) c.roundRect(x, y, w, h, radius);
    else c.rect(x, y, w, h);
    this.fillAndStroke(fill, stroke, width);
  }
  line(points: readonly Point[], stroke: string, width: number, dash: readonly number[] = []): void {
    const { c } = this;
    c.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? c.moveTo(x, y) : c.lineTo(x, y)));
    this.stroke(stroke, width, dash);
  }
  curve(a: Point, bend: Point, b: Point, stroke: string, width: number, dash: readonly number[] = []): void {
    const { c } = this;
    c.beginPath();
    c.moveTo(a[0], a[1]);
    c.quadraticCurveTo(bend[0], bend[1], b[0], b[1]);
    this.stroke(stroke, width, dash);
  }
  polygon(points: readonly Point[], fill: string): void {
    const { c } = this;
    c.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? c.moveTo(x, y) : c.lineTo(x, y)));
    c.closePath();
    c.fillStyle = fill;
    c.fill();
  }
  disc(x: number, y: number, radius: number, fill: string, stroke?: string, width = 1): void {
    this.c.beginPath();
    this.c.arc(x, y, radius, 0, 2 * Math.PI);
    this.fillAndStroke(fill, stroke, width);
  }
  slice(x: number, y: number, radius: number, from: number, to: number, fill: string): void {
    const { c } = this;
    const angle = (share: number) => 2 * Math.PI * share - Math.PI / 2;
    c.beginPath();
    c.moveTo(x, y);
    c.arc(x, y, radius, angle(from), angle(to));
    c.closePath();
    c.fillStyle = fill;
    c.fill();
  }
  text(x: number, y: number, text: string, size: number, fill: string, align: Align = "left", bold = false): void {
    const { c } = this;
    c.font = `${bold ? "600 " : ""}${size}px ${family}`;
    c.textAlign = align;
    c.textBaseline = "middle";
    c.fillStyle = fill;
    c.fillText(text, x, y);
  }
  textWidth(text: string, size: number): number {
    this.c.font = `${size}px ${family}`;
    return this.c.measureText(text).width;
  }
  private stroke(stroke: string, width: number, dash: readonly number[]): void {
    this.c.strokeStyle = stroke;
    this.c.lineWidth = width;
    this.c.setLineDash([...dash]);
    this.c.stroke();
    this.c.setLineDash([]);
  }
  private fillAndStroke(fill: string, stroke: string | undefined, width: number): void {
    if (fill !== "none") {
      this.c.fillStyle = fill;
      this.c.fill();
    }
    if (stroke !== undefined) this.stroke(stroke, width, []);
  }
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
const n = (v: number) => String(Math.round(v * 100) / 100);

/** Writes SVG, for files. */
export class SvgPainter implements Painter {
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly ground: string,
  ) {}

  svg(title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(this.width)} ${n(this.height)}" width="${n(this.width)}" ` +
      `height="${n(this.height)}" font-family="${escaped(family)}"><title>${escaped(title)}</title>` +
      `<rect width="100%" height="100%" fill="${this.ground}"/>\n${this.parts.join("\n")}\n</svg>\n`
    );
  }
  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string, width = 1, radius = 0): void {
    const round = radius > 0 ? ` rx="${n(radius)}"` : "";
    this.add(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"${round} fill="${fill}"${line(stroke, width)}/>`);
  }
  line(points: readonly Point[], stroke: string, width: number, dash: readonly number[] = []): void {
    const places = points.map(([x, y]) => `${n(x)},${n(y)}`).join(" ");
    this.add(`<polyline points="${places}" fill="none"${line(stroke, width, dash)}/>`);
  }
  curve(a: Point, bend: Point, b: Point, stroke: string, width: number, dash: readonly number[] = []): void {
    const d = `M${n(a[0])} ${n(a[1])}Q${n(bend[0])} ${n(bend[1])} ${n(b[0])} ${n(b[1])}`;
    this.add(`<path d="${d}" fill="none"${line(stroke, width, dash)}/>`);
  }
  polygon(points: readonly Point[], fill: string): void {
    this.add(`<polygon points="${points.map(([x, y]) => `${n(x)},${n(y)}`).join(" ")}" fill="${fill}"/>`);
  }
  disc(x: number, y: number, radius: number, fill: string, stroke?: string, width = 1): void {
    this.add(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}" fill="${fill}"${line(stroke, width)}/>`);
  }
  slice(x: number, y: number, radius: number, from: number, to: number, fill: string): void {
    if (to - from > 0.9999) {
      this.disc(x, y, radius, fill);
      return;
    }
    const at = (share: number) =>
      `${n(x + radius * Math.sin(2 * Math.PI * share))} ${n(y - radius * Math.cos(2 * Math.PI * share))}`;
    const large = to - from > 0.5 ? 1 : 0;
    this.add(`<path d="M${n(x)} ${n(y)}L${at(from)}A${n(radius)} ${n(radius)} 0 ${large} 1 ${at(to)}Z" fill="${fill}"/>`);
  }
  text(x: number, y: number, text: string, size: number, fill: string, align: Align = "left", bold = false): void {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    this.add(
      `<text x="${n(x)}" y="${n(y + size * 0.35)}" font-size="${n(size)}" text-anchor="${anchor}" fill="${fill}"` +
        `${bold ? ' font-weight="600"' : ""}>${escaped(text)}</text>`,
    );
  }
  textWidth(text: string, size: number): number {
    return text.length * size * 0.58;
  }
  private add(part: string): void {
    this.parts.push(part);
  }
}

function line(stroke: string | undefined, width: number, dash: readonly number[] = []): string {
  if (stroke === undefined) return "";
  return ` stroke="${stroke}" stroke-width="${n(width)}"${dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : ""}`;
}
