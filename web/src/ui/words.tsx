// Numbers and texts as people read them.

export function bytes(value: number): string {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const)
    if (value >= size) return `${(value / size).toFixed(1)} ${unit}`;
  return `${value} B`;
}

export function when(seconds: number): string {
  return seconds ? new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
}

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(3);
  // Of both limits the significant digits would win.
  return value.toLocaleString("en", size >= 1e4 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 });
}

const SCALES: Record<string, [string, number][]> = {
  ns: [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ],
  "bit/s": [
    ["Gbit/s", 1e9],
    ["Mbit/s", 1e6],
    ["kbit/s", 1e3],
  ],
  B: [
    ["MB", 1e6],
    ["kB", 1e3],
  ],
};

/** The unit in which numbers up to so large are read, and how much of the base unit it is. */
export function scaleOf(unit: string, largest: number): [string, number] {
  return SCALES[unit]?.find(([, size]) => largest >= size) ?? [unit, 1];
}

/** A text in which `code` stands between back quotes. */
export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>;
}

const TIMES: Record<string, number> = { "": 1, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9, min: 60, h: 3600 };

/** Seconds, of a number of them or of a time with its unit, such as `1.5`, `1.5 s` or `1500 ms`; undefined of anything else. */
export function seconds(text: string): number | undefined {
  const [, number, unit] = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(\p{L}*)\s*$/iu.exec(text) ?? [];
  const size = unit === undefined ? undefined : TIMES[unit];
  return number === undefined || size === undefined ? undefined : Number(number) * size;
}

/** A time as `sawtooth plan` says it. */
export function duration(seconds: number): string {
  if (seconds < 1) return "less than a second";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function count(number: number, of: string): string {
  return `${number.toLocaleString("en")} ${of}${number === 1 ? "" : "s"}`;
}
