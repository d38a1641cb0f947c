// What this explorer may do.
import { signal } from "@preact/signals";
import { get } from "./api";

export interface Session {
  version: string;
  allowRun: boolean;
  folders: string[];
  shipped: string;
}

export const session = signal<Session | null>(null);

export async function loadSession(): Promise<void> {
  session.value = await get<Session>("/api/session");
}
