import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { gone } from "../api";
import { route } from "../route";
import { loadSession, session } from "../session";
import { AGAIN } from "../sweeps";
import { PLACES } from "./places";

/** Pages that are reached from one of these. */
const PARTS: Record<string, string> = { compare: "results" };

/** Parts of an address each of which is a page by itself: the others say what is shown on it. */
const PARTED: Record<string, string[]> = { studies: ["of", "new"], results: ["of"], run: ["of", "run"], lessons: ["lesson"] };

export function Shell({ children }: { children: ComponentChildren }) {
  const page = route.value.page;
  // Whoever comes to another page begins at its top; the link by which one came is gone with the page before.
  useEffect(() => {
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  }, [page, ...(PARTED[page] ?? []).map((name) => route.value.query.get(name))]);
  useEffect(() => {
    if (!gone.value) return;
    const timer = setInterval(() => loadSession().catch(() => undefined), AGAIN);
    return () => clearInterval(timer);
  }, [gone.value]);
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="bar">
        <a class="brand" href="/results">
          <img src="/static/icon.svg" alt="" width="24" height="24" /> Sawtooth
        </a>
        <nav aria-label="Pages">
          {PLACES.map(([name, title]) => (
            <a key={name} href={`/${name}`} aria-current={(PARTS[page] ?? page) === name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <Theme />
      </header>
      <main id="main" tabIndex={-1}>
        {gone.value && (
          <p class="wrong stays" role="alert">
            The explorer is gone: it was ended, or killed, and its sweeps with it; what they had stored is there.{" "}
            <code>sawtooth serve</code> starts it again. Once the address that it prints was opened in this browser, this page goes on.
          </p>
        )}
        {children}
      </main>
      <footer class="foot">Sawtooth {session.value?.version ?? ""}</footer>
    </>
  );
}

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** Light or dark, or as the system has it. */
function Theme() {
  const [theme, choose] = useState<Theme>(() => (localStorage.getItem("theme") as Theme | null) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
    dispatchEvent(new Event("themed"));
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
  return (
    <button type="button" class="quiet" onClick={() => choose(next)} title={`Colours: ${theme}; switch to ${next}`}>
      <span aria-hidden="true">{{ auto: "◐", light: "☀", dark: "☾" }[theme]}</span>
      <span class="hidden">Colours: {theme}</span>
    </button>
  );
}
