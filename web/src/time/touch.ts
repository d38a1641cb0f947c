// Fingers on what is drawn over time. Two of them zoom: the times below them stay below them. One moves the stretch that is shown; where all is shown there is nothing to
// move, and it chooses a stretch, as the mouse does. Up and down the page is scrolled, as everywhere.

/** Whether a finger is what points first. */
export const byFinger = (): boolean => matchMedia("(pointer: coarse)").matches;

/** A stretch of time, and what changes it. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** From the beginning to the end, as far as it goes. */
  readonly least: number;
  readonly most: number;
  show: (from: number, to: number) => void;
}

/** Pixels that a finger moves before it means a stretch, and that two fingers are apart at least. */
const STILL = 8;
const APART = 16;
/** Between two taps that show all: milliseconds, and pixels. */
const SOON = 350;
const NEAR = 30;

interface Finger {
  /** Where it is, in pixels from the left edge, and the time that was below it when this gesture began. */
  x: number;
  began: number;
  time: number;
}

/**
 * Lets fingers on `over` change a stretch.
 *
 * @param mark shows what would be chosen: its left edge and its width in pixels; nothing for a width of 0.
 */
export function touchable(over: HTMLElement, stretch: Stretch, mark: (left: number, width: number) => void): void {
  const fingers = new Map<number, Finger>();
  let tapped = { at: Number.NEGATIVE_INFINITY, x: 0 };
  let choosing = false;
  // What a finger has done is no click on a moment.
  let moved = false;
  const across = (event: PointerEvent) => event.clientX - over.getBoundingClientRect().left;
  const timeAt = (x: number) => stretch.from + (x / over.clientWidth) * (stretch.to - stretch.from);
  const showsAll = () => stretch.to - stretch.from >= (1 - 1e-9) * (stretch.most - stretch.least);
  const begin = () => {
    for (const finger of fingers.values()) [finger.began, finger.time] = [finger.x, timeAt(finger.x)];
    mark(0, 0);
  };
  const within = (from: number, wide: number) => {
    const limited = Math.min(wide, stretch.most - stretch.least);
    const start = Math.min(Math.max(from, stretch.least), stretch.most - limited);
    stretch.show(start, start + limited);
  };

  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    const x = across(event);
    fingers.set(event.pointerId, { x, began: x, time: timeAt(x) });
    choosing = fingers.size === 1 && showsAll();
    if (fingers.size === 1) moved = false;
    begin();
  });
  over.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    finger.x = across(event);
    const [one, other] = [...fingers.values()] as [Finger, Finger | undefined];
    moved ||= Math.abs(finger.x - finger.began) >= STILL;
    if (other) {
      const apart = other.x - one.x;
      const times = other.time - one.time;
      // Fingers that cross, or touch each other, say nothing.
      if (Math.abs(apart) < APART || apart * times <= 0) return;
      const wide = (times / apart) * over.clientWidth;
      within(one.time - (one.x / over.clientWidth) * wide, wide);
    } else if (choosing) {
      if (moved) mark(Math.min(finger.began, finger.x), Math.abs(finger.x - finger.began));
    } else if (moved) {
      const wide = stretch.to - stretch.from;
      within(finger.time - (finger.x / over.clientWidth) * wide, wide);
    }
  });
  const ends = (event: PointerEvent) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    fingers.delete(event.pointerId);
    const lifted = event.type === "pointerup";
    if (fingers.size === 0 && lifted) {
      if (moved && choosing) {
        const [one, other] = [timeAt(finger.began), timeAt(finger.x)];
        if (Math.abs(finger.x - finger.began) >= STILL) stretch.show(Math.min(one, other), Math.max(one, other));
      } else if (!moved) {
        const isSecond = event.timeStamp - tapped.at < SOON && Math.abs(finger.x - tapped.x) < NEAR;
        if (isSecond) stretch.show(stretch.least, stretch.most);
        tapped = { at: isSecond ? Number.NEGATIVE_INFINITY : event.timeStamp, x: finger.x };
      }
    }
    choosing = false;
    begin();
  };
  over.addEventListener("pointerup", ends);
  over.addEventListener("pointercancel", ends);
}
