// A setting as the server tells it, and its address; what an address means is read by the server alone.
export interface Link {
  rates: number[];
  delay: number;
  buffer: string;
  loss: number;
  queue: string;
}

export interface Group {
  cc: string;
  count: number;
  begin: number;
  end: number;
  delay: number;
  start: number;
  size: number | null;
}

export interface Setting {
  duration: number;
  links: Link[];
  groups: Group[];
  stack: string;
  ecn: string;
  partial: string;
  window: number | null;
  memory: number | null;
  seed: number;
  names: string[];
  address: string;
}

export interface Choices {
  topologies: Record<string, string>;
  choices: Record<"cc" | "queue" | "stack" | "ecn" | "partial", Record<string, string>>;
  limits: Record<string, { least: number; most: number; unit: string }>;
  most: { links: number; groups: number; flows: number };
}

/** Bits of a packet: what a buffer in products of rate and round-trip time holds at least, or the study is refused. */
const PACKET = 12_000;

/** What round-trip time crosses a link at most besides its own, ms. */
function elsewhere({ links, groups }: Setting, at: number): number {
  const crossing = groups.filter((each) => Math.min(each.begin, each.end) <= at && at < Math.max(each.begin, each.end));
  const others = (group: Group) =>
    links.reduce((sum, link, i) => {
      const isCrossed = i !== at && Math.min(group.begin, group.end) <= i && i < Math.max(group.begin, group.end);
      return isCrossed ? sum + link.delay : sum;
    }, group.delay);
  return 2 * Math.max(0, ...crossing.map(others));
}

/** The least rate (Mbit/s), delay (ms) and buffer (BDP) of a link with which its buffer holds a packet, the others as they are; none of one in packets. */
export function leastOf(setting: Setting, at: number): { rate: number; delay: number; buffer: number } {
  const { rates, delay, buffer } = setting.links[at] as Link;
  if (!buffer.endsWith("bdp")) return { rate: 0, delay: 0, buffer: 0 };
  const [rate, amount, rest] = [rates[0] ?? 0, Number(buffer.slice(0, -3)), elsewhere(setting, at)];
  const kilobits = PACKET / 1000;
  const trip = 2 * delay + rest;
  return {
    rate: upwards(kilobits / (trip * amount)),
    delay: upwards(Math.max(0, kilobits / (rate * amount) - rest) / 2),
    buffer: upwards(kilobits / (rate * trip)),
  };
}

/** To three digits. What cannot be had (without a delay) bounds nothing. */
function upwards(value: number): number {
  if (!Number.isFinite(value) || value <= 0) return 0;
  const scale = 10 ** (2 - Math.floor(Math.log10(value)));
  return Number((Math.ceil(value * scale - 1e-6) / scale).toPrecision(6));
}

/** What stands behind the address's question mark: the setting, and the lesson that it is from, which says nothing of the setting. */
export function parted(search: string): { setting: string; lesson: string } {
  const parts = search.replace(/^\?/, "").split("&").filter(Boolean);
  const isLesson = (part: string) => part.startsWith("lesson=");
  const lesson = parts.find(isLesson)?.slice("lesson=".length) ?? "";
  return { setting: parts.filter((part) => !isLesson(part)).join("&"), lesson: /^[\w-]+$/.test(lesson) ? lesson : "" };
}

/** An address of the playground. */
export function searchOf(setting: string, lesson: string): string {
  return `?${setting}${lesson && `&lesson=${lesson}`}`;
}

export function addressOf(setting: Setting): string {
  const { duration, links, groups, stack, ecn, partial, window, memory, seed } = setting;
  const rest = Object.entries({ stack, ecn, partial, window, memory, seed }).filter(([, value]) => value !== "" && value !== null);
  return [
    "v=1",
    `d=${duration}`,
    ...links.map((each) => `l=${[each.rates.join("/"), each.delay, each.buffer, each.loss, each.queue].join(",")}`),
    ...groups.map((each) => `f=${[each.cc, each.count, `${each.begin}-${each.end}`, each.delay, each.start, each.size ?? ""].join(",")}`),
    ...rest.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`),
  ].join("&");
}

/** With a link more, as the last one is: flows along the whole chain cross it, too, or else those that reach its end, as a link that nothing crosses shows nothing. */
export function withLink(setting: Setting): Setting {
  const last = setting.links.length;
  const reaches = (group: Group) => Math.max(group.begin, group.end) === last;
  const crosses = (group: Group) => reaches(group) && Math.min(group.begin, group.end) === 0;
  const moves = setting.groups.some(crosses) ? crosses : reaches;
  const moved = (node: number) => (node === last ? last + 1 : node);
  const groups = setting.groups.map((each) => (moves(each) ? { ...each, begin: moved(each.begin), end: moved(each.end) } : each));
  return { ...setting, groups, links: [...setting.links, { ...(setting.links.at(-1) as Link) }] };
}

/** Without a link: ways that led over it are shorter, and those that led over nothing else are gone. */
export function withoutLink(setting: Setting, at: number): Setting {
  const moved = (node: number) => (node > at ? node - 1 : node);
  const groups = setting.groups
    .map((each) => ({ ...each, begin: moved(each.begin), end: moved(each.end) }))
    .filter((each) => each.begin !== each.end);
  const links = setting.links.filter((_, each) => each !== at);
  return { ...setting, links, groups: groups.length ? groups : [{ ...(setting.groups[0] as Group), begin: 0, end: links.length }] };
}
