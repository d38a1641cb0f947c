// The way back to where one came from: to another page of this tab, or to the lesson that a shared address names.
import { get } from "../api";
import { route, to } from "../route";
import { useLoaded } from "./loaded";
import { PLACES } from "./places";

/** The lesson of an address, or nothing. */
function lessonOf(address: string): string {
  const { pathname, searchParams } = new URL(address, location.origin);
  return pathname === "/lessons" ? (searchParams.get("lesson") ?? "") : "";
}

export function Back({ lesson = "" }: { lesson?: string }) {
  const { came } = route.value;
  const named = lesson || (came ? lessonOf(came) : "");
  const titles = useLoaded<Record<string, string>>(
    async (signal) => {
      if (!named) return {};
      const { lessons } = await get<{ lessons: { name: string; title: string }[] }>("/api/lessons", {}, signal);
      return Object.fromEntries(lessons.map((each) => [each.name, each.title]));
    },
    [named],
  );
  const title = titles.value?.[named];
  // A lesson that there is not is no way back.
  const ways: [string, string][] = title ? [[to("lessons", { lesson: named }), `the lesson “${title}”`]] : [];
  if (came && !lessonOf(came)) ways.push([came, nameOf(came)]);
  if (!ways.length) return null;
  return (
    <nav class="faint row back" aria-label="Back">
      {ways.map(([address, words]) => (
        <a key={address} href={address}>
          ← Back to {words}
        </a>
      ))}
    </nav>
  );
}

function nameOf(address: string): string {
  const page = address.slice(1).split("?")[0] || "results";
  if (page === "playground") return "the playground, as it was";
  return PLACES.find(([name]) => name === page)?.[1] ?? page;
}
