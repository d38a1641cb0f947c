// Long lists of numbers, as python/sawtooth/web/columns.py packs them: a table as JSON, and columns of binary64 behind it.
import { asked } from "./api";

export interface Packed<T> {
  head: T;
  /** A column by its name, or undefined if the answer has none. */
  column: (name: string) => Float64Array | undefined;
}

export async function columns<T>(path: string, query: [string, string][], signal?: AbortSignal): Promise<Packed<T>> {
  const answer = await asked(`${path}?${new URLSearchParams(query)}`, signal);
  const buffer = await answer.arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as T & {
    columns: Record<string, [number, number]>;
  };
  return {
    head,
    column: (name) => {
      const place = head.columns[name];
      return place && new Float64Array(buffer, 4 + length + 8 * place[0], place[1]);
    },
  };
}
