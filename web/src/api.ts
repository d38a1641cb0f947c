// What the server answers, and errors in its words.
import { signal } from "@preact/signals";

export interface Place {
  name: string;
  line: number;
  column: number;
  end: number;
  text: string;
}

/** What is wrong, where, and what to do: the same words as on the command line. */
export interface Told {
  message: string;
  hint: string | null;
  place: Place | null;
  /** Whether it can be done again where studies may be run. */
  repeatable?: boolean;
}

export class Problem extends Error {
  constructor(readonly told: Told) {
    super(told.message);
  }
}

/** Whether the explorer does not answer any more: what happens there is not known then. */
export const gone = signal(false);

export type Query = Record<string, string | number | undefined>;

export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** What an explorer answers to a browser that has not opened the address that it printed. */
const UNKNOWN = 401;

export async function answered(coming: Promise<Response>): Promise<Response> {
  let answer: Response;
  try {
    answer = await coming;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    gone.value = true;
    throw new Problem({
      message: "the explorer does not answer",
      hint: "it may have been ended; `sawtooth serve` starts it again",
      place: null,
    });
  }
  // One that was started anew, and does not know this browser yet, is not the one that is gone.
  if (answer.status !== UNKNOWN) gone.value = false;
  if (answer.ok) return answer;
  let told: Told | undefined;
  if (answer.headers.get("content-type")?.startsWith("application/json")) told = (await answer.json()).error;
  throw new Problem(
    told ?? {
      message: answer.status === UNKNOWN ? "the explorer was started anew" : await answer.text(),
      hint: answer.status === UNKNOWN ? "open the address that it printed" : null,
      place: null,
    },
  );
}

/** The whole answer, where it is no JSON. */
export async function asked(path: string, signal?: AbortSignal): Promise<Response> {
  return answered(fetch(path, signal ? { signal } : {}));
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await answered(fetch(address(path, query), signal ? { signal } : {}))).json();
}

export async function post<T>(path: string, query: Query, body: unknown, signal?: AbortSignal): Promise<T> {
  const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return (await answered(fetch(address(path, query), signal ? { ...sent, signal } : sent))).json();
}

export function problemOf(error: unknown): Told {
  if (error instanceof Problem) return error.told;
  return { message: error instanceof Error ? error.message : String(error), hint: null, place: null };
}
