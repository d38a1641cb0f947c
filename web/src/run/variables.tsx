import { columns } from "../columns";
import { colour } from "../plots/colours";
import { curve } from "../time/layers";
import { Panel } from "../time/panel";
import { Steps } from "../time/steps";
import type { Zoom } from "../time/zoom";
import { Choice } from "../ui/field";
import { useKept } from "../ui/kept";
import { Await, useLoaded } from "../ui/loaded";
import { Titled } from "./panels";
import { asking, dashOf, lines, type Track } from "./track";

/** The algorithms' own variables, one at a time, in their own unit. */
export function Variables({ tracks, zoom, choose }: { tracks: Track[]; zoom: Zoom; choose: (time: number) => void }) {
  const names = [...new Set(tracks.flatMap((track) => Object.keys(track.head.variables)))];
  const [chosen, pick] = useKept("variable");
  const name = names.includes(chosen) ? chosen : "";
  if (!names.length) return null;
  return (
    <section aria-label="Variables of the algorithms">
      <div class="row">
        <Choice name="The algorithms' own variables" value={name} values={[{ value: "", words: "none" }, ...names]} choose={pick} />
      </div>
      {name && <Variable key={name} name={name} tracks={tracks} zoom={zoom} choose={choose} />}
    </section>
  );
}

function Variable({ name, tracks, zoom, choose }: { name: string; tracks: Track[]; zoom: Zoom; choose: (time: number) => void }) {
  const found = useLoaded(
    (signal) =>
      Promise.all(
        tracks.map((track) =>
          track.head.variables[name] ? columns("/api/run/variable", asking(track.which, { name }), signal) : Promise.resolve(undefined),
        ),
      ),
    [name, tracks],
  );
  return (
    <Await of={found}>
      {(packed) => (
        <Titled title={name} keys="in the algorithm's unit: windows in segments, times in seconds, rates in segments per second">
          <Panel
            zoom={zoom}
            label={`${name} over time`}
            unit=""
            height={150}
            keys={[packed]}
            fromZero={false}
            times
            choose={choose}
            layers={() =>
              lines(tracks).flatMap((line) => {
                const [t, value] = ["t", "value"].map((each) => packed[line.track.number]?.column(`${line.flow} ${each}`));
                return t && value
                  ? [curve(new Steps(t, value, line.track.head.duration), { colour: colour(line.colour), width: 1.4, dash: dashOf(line) })]
                  : [];
              })
            }
          />
        </Titled>
      )}
    </Await>
  );
}
