// What tabs and bookmarks call a page: which page it is, and of what.
import type { Route } from "../route";
import { PLACES } from "./places";

/** The last part of an address that tells it from others: that of a directory if the file has the usual name. */
function named(address: string): string {
  const parts = address
    .replace(/\.toml$/, "")
    .split("/")
    .filter(Boolean);
  return (parts.at(-1) === "study" ? parts.at(-2) : parts.at(-1)) ?? address;
}

export function titleOf({ page, query }: Route): string {
  const [of, beside, run, lesson] = ["of", "beside", "run", "lesson"].map((name) => query.get(name) ?? "");
  return `${partOf(page, of ?? "", beside ?? "", run ?? "", lesson ?? "", query.has("new"))} · Sawtooth`;
}

function partOf(page: string, of: string, beside: string, run: string, lesson: string, isNew: boolean): string {
  const [, title = page === "compare" ? "Compare" : "No such page"] = PLACES.find(([name]) => name === page) ?? [];
  if (page === "studies" && isNew) return "New study";
  if (page === "lessons" && lesson) return `${lesson.replace(/^\d+-/, "")} lesson`;
  if (!of) return title;
  if (page === "studies") return `${named(of)} study`;
  if (page === "results") return `${named(of)} results`;
  if (page === "compare") return beside ? `${named(of)} beside ${named(beside)}` : title;
  return page === "run" && run ? `${named(of)} run ${run}` : title;
}
