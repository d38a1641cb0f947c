// The packets of a stretch of the run on their links: the same player that pages of `sawtooth animate` have.
import { useEffect, useRef, useState } from "preact/hooks";
import { player } from "../../../python/sawtooth/animation/player.js";
import "../../../python/sawtooth/animation/film.css";
import { asked } from "../api";
import type { Zoom } from "../time/zoom";
import { Await, useLoaded } from "../ui/loaded";
import { asking, type Track } from "./track";

interface Parts {
  body: string;
  data: unknown;
  said: string;
}

export function Films({ tracks, zoom }: { tracks: Track[]; zoom: Zoom }) {
  const [shown, show] = useState<{ track: Track; from: number } | null>(null);
  return (
    <section aria-label="Packets on their links">
      <div class="row">
        {tracks.map((track) => (
          <button key={track.number} type="button" onClick={() => show({ track, from: zoom.from })}>
            Show packets on their links{track.label ? `, ${track.label}` : ""}
          </button>
        ))}
        <span class="faint">from the beginning of what is shown above, as far as packets fit</span>
      </div>
      {shown && <Shown key={`${shown.track.number} ${shown.from}`} track={shown.track} from={shown.from} />}
    </section>
  );
}

function Shown({ track, from }: { track: Track; from: number }) {
  const found = useLoaded(
    async (signal) =>
      (await (
        await asked(`/api/run/film?${new URLSearchParams(asking({ ...track.which, flows: [] }, { from: `${from.toFixed(9)} s` }))}`, signal)
      ).json()) as Parts,
    [track, from],
  );
  return <Await of={found}>{(parts) => <Player parts={parts} />}</Await>;
}

function Player({ parts }: { parts: Parts }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = place.current as HTMLDivElement;
    root.innerHTML = parts.body;
    const end = player(parts.data, root, root);
    return end;
  }, [parts]);
  return (
    <figure>
      <div ref={place} />
      <figcaption>{parts.said}</figcaption>
    </figure>
  );
}
