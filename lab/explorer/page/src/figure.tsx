// A picture that can be pointed at, clicked, and walked through by keys.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { paletteOf } from "./colours";
import { CanvasPainter } from "./painter";
import { type Chosen, type Draw, type Drawing, type Item, itemAt, itemTowards, same } from "./views/view";

/** What tests look for: where things lie in a picture. */
export interface FigureCanvas extends HTMLCanvasElement {
  items?: Item[];
}

interface Props {
  name: string;
  label: string;
  draw: Draw;
  drawing: Omit<Drawing, "palette" | "width" | "height"> | undefined;
  height: (width: number) => { width: number; height: number };
  theme: string;
  onChoose: (chosen: Chosen | undefined) => void;
}

/** The width of an element, as it changes. */
function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    setWidth(element.current!.clientWidth);
    const observer = new ResizeObserver(() => element.current && setWidth(element.current.clientWidth));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

export function Figure({ name, label, draw, drawing, height, theme, onChoose }: Props) {
  const [frame, available] = useWidth();
  const canvas = useRef<FigureCanvas>(null);
  const items = useRef<Item[]>([]);
  const [tip, setTip] = useState<{ text: string; x: number; y: number; left: boolean }>();
  const [said, setSaid] = useState("");
  const size = available > 0 ? height(available) : { width: 0, height: 0 };

  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null || drawing === undefined || size.width === 0) return;
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(size.width * scale), Math.round(size.height * scale)];
    if (element.width !== w || element.height !== h) {
      element.width = w;
      element.height = h;
    }
    const context = element.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    items.current = draw(new CanvasPainter(context), { ...drawing, ...size, palette: paletteOf(element) });
    element.items = items.current;
  }, [draw, drawing, size.width, size.height, theme]);
  // What was under the pointer may be another thing now.
  useEffect(() => setTip(undefined), [drawing?.state, draw]);

  const at = (event: PointerEvent | MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return { item: itemAt(items.current, event.clientX - box.left, event.clientY - box.top), box };
  };
  const hover = (event: PointerEvent) => {
    const { item, box } = at(event);
    const x = event.clientX - box.left;
    setTip(item && { text: item.label(), x, y: event.clientY - box.top, left: x > box.width * 0.6 });
  };
  const click = (event: MouseEvent) => {
    const { item } = at(event);
    onChoose(item?.chosen);
    if (item) setSaid(item.label());
  };
  const key = (event: KeyboardEvent) => {
    if (!event.key.startsWith("Arrow") || items.current.length === 0 || event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Escape") onChoose(undefined);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const now = items.current.find((item) => same(item.chosen, drawing?.chosen));
    const next = now === undefined ? items.current[0] : itemTowards(items.current, now, event.key);
    onChoose(next.chosen);
    setSaid(next.label());
  };

  return (
    <div class="figure" ref={frame}>
      <canvas
        ref={canvas}
        id={name}
        tabIndex={0}
        role="application"
        aria-label={`${label}. Arrow keys go from one part to another.`}
        style={{ width: `${size.width}px`, height: `${size.height}px` }}
        onPointerMove={hover}
        onPointerLeave={() => setTip(undefined)}
        onClick={click}
        onKeyDown={key}
      />
      {tip && (
        <div class={`tip${tip.left ? " left" : ""}`} style={{ left: `${tip.x}px`, top: `${tip.y}px` }} aria-hidden="true">
          {tip.text}
        </div>
      )}
      <p class="spoken" aria-live="polite">
        {said}
      </p>
    </div>
  );
}
