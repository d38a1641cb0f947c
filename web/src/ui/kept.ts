// What the address keeps besides what it is of, so that Back and a reload bring it back: tables that are open, a stretch of time, a moment.
import { useState } from "preact/hooks";
import { keep, route } from "../route";

/** A choice; nothing is chosen if it is empty. */
export function useKept(name: string): [string, (value: string) => void] {
  return [route.value.query.get(name) ?? "", (value) => keep({ [name]: value })];
}

/** A JSON value of the address; what is none, or not of the kind, is as if it were not there. */
export function read<T>(name: string, is: (value: unknown) => value is T): T | undefined {
  try {
    const found: unknown = JSON.parse(route.value.query.get(name) ?? "null");
    return is(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Whether something is unfolded: by a name the address keeps it, without one this page alone knows. */
export function useOpen(name?: string): [boolean, (open: boolean) => void] {
  const [own, set] = useState(false);
  if (name === undefined) return [own, set];
  const open = read("open", isTexts) ?? [];
  const kept = (on: boolean) => {
    if (on === open.includes(name)) return;
    const next = on ? [...open, name] : open.filter((each) => each !== name);
    keep({ open: next.length ? JSON.stringify(next) : "" });
  };
  return [open.includes(name), kept];
}
