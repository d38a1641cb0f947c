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
