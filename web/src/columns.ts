// Long lists of numbers, as sawtooth.web.columns packs them.
import { answered } from "./api";

export interface Columns<Head> {
  head: Head;
  columns: Float64Array[];
}

export async function columns<Head>(address: string, signal: AbortSignal): Promise<Columns<Head>> {
  const buffer = await (await answered(fetch(address, { signal }))).arrayBuffer();
  const [bytes = 0, rows = 0] = new Uint32Array(buffer, 0, 2);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, bytes))) as Head;
  const count = rows ? (buffer.byteLength - 8 - bytes) / 8 / rows : 0;
  return { head, columns: Array.from({ length: count }, (_, at) => new Float64Array(buffer, 8 + bytes + at * rows * 8, rows)) };
}
