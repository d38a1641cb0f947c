// A study's text: TOML with its colours, completions from the schema, and what the command line says at its place.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Place } from "../api";
import { NONCE } from "../plots/drawn";
import { completing, type Known } from "./complete";

/** What is said of a stretch of the text. */
export interface Said {
  severity: "error" | "warning" | "info";
  message: string;
  place: Place;
}

export interface Writing {
  /** With which it begins; from then on the editor has it. */
  text: string;
  said: Said[];
  known: Known | null;
  readOnly: boolean;
  /** Where the cursor is to go; another object each time. */
  goTo: Place | null;
  change: (text: string) => void;
  save: () => void;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--c2)" },
  { tag: tags.number, color: "var(--c1)" },
  { tag: tags.atom, color: "var(--c1)" },
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.keyword, color: "var(--c7)" },
]);

const LOOK = EditorView.theme({
  "&": { border: "1px solid var(--rule)", borderRadius: "6px", fontSize: "0.88rem", backgroundColor: "var(--paper)" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", maxHeight: "70vh", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "14rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--faint)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--panel) 50%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--rule)", maxWidth: "min(34rem, 90vw)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--paper)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)" },
});

function stretch(text: Text, place: Place): { from: number; to: number } | null {
  if (place.line < 1 || place.line > text.lines) return null;
  const line = text.line(place.line);
  // Columns are of characters; the editor counts UTF-16.
  const offset = (column: number) => Math.min([...line.text].slice(0, Math.max(column - 1, 0)).join("").length, line.length);
  const from = line.from + offset(place.column);
  return { from, to: Math.max(line.from + offset(place.end), from) };
}

export function Editor(writing: Writing) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef(writing);
  now.current = writing;
  useEffect(() => {
    const save = () => {
      now.current.save();
      return true;
    };
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: writing.text,
        extensions: [
          EditorView.cspNonce.of(NONCE),
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          highlightSelectionMatches(),
          StreamLanguage.define(toml),
          syntaxHighlighting(COLOURS),
          autocompletion({ override: [completing(() => now.current.known)] }),
          // Tab goes on to what is next: nobody is caught in here.
          keymap.of([
            { key: "Mod-s", preventDefault: true, run: save },
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...completionKeymap,
            ...lintKeymap,
          ]),
          EditorView.contentAttributes.of({ "aria-label": "Text of the study" }),
          EditorState.readOnly.of(writing.readOnly),
          EditorView.updateListener.of((update) => update.docChanged && now.current.change(update.state.doc.toString())),
          LOOK,
        ],
      }),
    });
    // What scrolls can be reached with the keyboard.
    made.scrollDOM.tabIndex = 0;
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const marks = writing.said.flatMap(({ severity, message, place }): Diagnostic[] => {
      const found = stretch(editor.state.doc, place);
      return found ? [{ ...found, severity, message }] : [];
    });
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [writing.said]);
  // At once: what is typed after the click goes there.
  useLayoutEffect(() => {
    const editor = view.current;
    const found = editor && writing.goTo && stretch(editor.state.doc, writing.goTo);
    if (!editor || !found) return;
    editor.dispatch({ selection: { anchor: found.from, head: found.to }, scrollIntoView: true });
    editor.focus();
  }, [writing.goTo]);
  return <div ref={place} class="editor" />;
}
