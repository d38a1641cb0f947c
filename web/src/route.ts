// Which page is shown: the address of the browser says it, so that it can be kept, shared and gone back to.
import { signal } from "@preact/signals";

export interface Route {
  page: string;
  query: URLSearchParams;
  /** The last address of another page of this tab, from where one came here. */
  came: string | undefined;
}

function pageOf(path: string): string {
  return path.replace(/^\/+|\/+$/g, "") || "results";
}

function here(): Route {
  const came: unknown = history.state?.came;
  return {
    page: pageOf(location.pathname),
    query: new URLSearchParams(location.search),
    came: typeof came === "string" ? came : undefined,
  };
}

export const route = signal<Route>(here());

/** Says whether the page may be left; one with a text that is not saved asks first. */
export const leaving: { ask: (() => boolean) | null } = { ask: null };

/** How many addresses of this tab stand before this one: by that a step back or forth that is refused is undone. */
let at = numbered(0);
let undoing = false;

addEventListener("popstate", () => {
  if (undoing) {
    undoing = false;
    return;
  }
  // An address without a number is one that the browser made of this page's own links to its parts.
  const now = numbered(at + 1);
  if (leaving.ask && isElsewhere() && !leaving.ask()) {
    undoing = true;
    history.go(at - now);
    return;
  }
  at = now;
  route.value = here();
});

function numbered(otherwise: number): number {
  const found: unknown = history.state?.at;
  if (typeof found === "number") return found;
  history.replaceState({ ...history.state, at: otherwise }, "");
  return otherwise;
}

function isElsewhere(): boolean {
  return pageOf(location.pathname) !== route.value.page || new URLSearchParams(location.search).toString() !== route.value.query.toString();
}

export function to(page: string, query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined && each[1] !== "");
  const text = new URLSearchParams(given).toString();
  return `/${page}${text ? `?${text}` : ""}`;
}

export function go(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") {
    const isSame = pageOf(new URL(address, location.origin).pathname) === route.value.page;
    const came = isSame ? route.value.came : location.pathname + location.search;
    at += 1;
    history.pushState({ came, at }, "", address);
  } else history.replaceState(history.state, "", address);
  route.value = here();
  if (how === "push") scrollTo(0, 0);
}

/** Says in the address of this page what it shows besides, or no longer (empty); nothing is gone to. */
export function keep(query: Record<string, string | undefined>): void {
  const next = to(route.value.page, { ...Object.fromEntries(route.value.query), ...query });
  if (next !== location.pathname + location.search) go(next, "replace");
}

// Links are links: they can be opened elsewhere, and here they load nothing anew.
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a");
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download") || /^\/(api|static)\//.test(link.pathname))
    return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  event.preventDefault();
  if (leaving.ask && !leaving.ask()) return;
  go(link.pathname + link.search + link.hash);
});
