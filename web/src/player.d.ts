declare module "*/animation/player.js" {
  /** Plays a film in an element that has the parts that page.py makes; what it returns ends it. */
  export function player(film: unknown, root: ParentNode, keyboard: EventTarget): () => void;
}
