// Whether goodput that is drawn stands above what a link can carry: data count as they arrive in order, and what waited behind a lost packet is handed over at once.

/** Megabits. */
const PACKET = 0.012;

/** `rates` and `fastest` in Mbit/s, each of the rates over `seconds`: in some a packet or two arrive more than in others. */
export function peaked(rates: Float64Array, fastest: number, seconds: number): boolean {
  const most = 1.1 * fastest + (2 * PACKET) / seconds;
  return rates.some((rate) => rate > most);
}
