/** Steps of the ticks of an axis of counts: there are no parts of a packet. */
export const WHOLE = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
