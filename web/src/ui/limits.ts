// What holds senders back, as results call it, in words.
const MEANING: Record<string, string> = {
  cwnd: "cwnd: the congestion window",
  rwnd: "rwnd: the receiver's window",
  source: "source: the application has nothing to send",
  send_buffer: "send buffer: no room in it",
  pacing: "pacing",
  recovery: "recovery of a loss",
  rto: "rto: waits for the timer",
  nagle: "nagle: less than a segment",
};

/** As a column of results has it, and as it is read. */
export function limitName(limit: string): string {
  return limit.replaceAll("_", " ");
}

export function limitMeaning(limit: string): string {
  return MEANING[limit] ?? limitName(limit);
}
