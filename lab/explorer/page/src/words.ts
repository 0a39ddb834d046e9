// Numbers as people read them.

export function inSeconds(seconds: number): string {
  if (seconds === 0) return "0";
  const [unit, name] = seconds < 1e-6 ? [1e-9, "ns"] : seconds < 1e-3 ? [1e-6, "µs"] : seconds < 1 ? [1e-3, "ms"] : [1, "s"];
  return `${(seconds / (unit as number)).toPrecision(3).replace(/\.?0+$/, (zeros) => (zeros.startsWith(".") ? "" : zeros))} ${name}`;
}

export function inBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    ++unit;
  }
  return `${Number.isInteger(bytes) ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

export const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
