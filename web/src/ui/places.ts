// The pages, by the first part of their addresses.
export const PLACES: [string, string][] = [
  ["studies", "Studies"],
  ["results", "Results"],
  ["run", "Run"],
  ["playground", "Playground"],
  ["lessons", "Lessons"],
  ["live", "Live"],
];
