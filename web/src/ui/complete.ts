// What can be written where the cursor is in a study: keys and names of the schema, by the table that it is in.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

export interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  enum?: unknown[];
  const?: unknown;
  type?: string | string[];
  description?: string;
  definitions?: Record<string, Schema>;
}

export interface Words {
  schema: Schema;
  measures: { name: string; unit: string; summary: string }[];
}

/** Where the cursor is: in which table, at a key or at a value, and what of it is written. */
export interface Place {
  path: string[];
  at: "key" | "value";
  written: string;
  quoted: boolean;
}

const KEY = /[^.\s"']+|"[^"]*"|'[^']*'/g;
/** Keys whose value is a measure. */
const MEASURES = new Set(["metric", "of", "x_metric"]);

const bare = (key: string) => key.replace(/^["']|["']$/g, "");
const keys = (text: string) => (text.match(KEY) ?? []).map(bare);

export function placeOf(before: string): Place | null {
  const lines = before.split("\n");
  const last = lines.pop() ?? "";
  if (/^\s*\[/.test(last)) return null;
  let table: string[] = [];
  for (const line of lines.reverse()) {
    const header = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(#.*)?$/.exec(line);
    if (header) {
      table = keys(header[1] as string);
      break;
    }
  }
  return within(last, table);
}

/** Goes through a line, into inline tables and lists. */
function within(line: string, table: string[]): Place | null {
  const path = [...table];
  const open: { sign: string; depth: number }[] = [];
  let written = "";
  let at: Place["at"] = "key";
  let depth = path.length;
  for (let index = 0; index < line.length; index++) {
    const sign = line[index] as string;
    if (sign === '"' || sign === "'") {
      const end = line.indexOf(sign, index + 1);
      if (end < 0) return { path: [...path], at, written: line.slice(index + 1), quoted: true };
      written += line.slice(index, end + 1);
      index = end;
    } else if (sign === "#") return null;
    else if (sign === "=") {
      depth = path.length;
      path.push(...keys(written));
      at = "value";
      written = "";
    } else if (sign === "{") {
      open.push({ sign, depth });
      at = "key";
      written = "";
    } else if (sign === "[") {
      open.push({ sign, depth });
      written = "";
    } else if (sign === "}" || sign === "]") {
      depth = open.pop()?.depth ?? table.length;
      written = "";
      at = "value";
    } else if (sign === ",") {
      written = "";
      if (open.at(-1)?.sign === "{") {
        path.length = depth;
        at = "key";
      }
    } else written += sign;
  }
  written = written.trimStart();
  if (at === "value") return { path, at, written, quoted: false };
  // Of a dotted key the first parts are a table's.
  const dot = written.lastIndexOf(".");
  return { path: [...path, ...keys(written.slice(0, Math.max(dot, 0)))], at, written: written.slice(dot + 1), quoted: false };
}

export class Known {
  constructor(private readonly words: Words) {}

  /** Everything that a schema may be, without what only refers. */
  private every(schema: Schema | undefined, depth = 0): Schema[] {
    if (!schema || depth > 8) return [];
    const named = schema.$ref ? this.words.schema.definitions?.[schema.$ref.split("/").at(-1) as string] : undefined;
    const parts = [named, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((each) => this.every(each, depth + 1));
    return [schema, ...parts];
  }

  private at(path: string[]): Schema[] {
    // What an arm sets are values of the scenario.
    const whole = path[0] === "arms" && path.length > 1 ? ["scenario", ...path.slice(2)] : path;
    let found = this.every(this.words.schema);
    for (const key of whole) {
      found = found.flatMap((each) => {
        const tables = each.items ? this.every(each.items) : [each];
        return tables.flatMap((table) => {
          const other = typeof table.additionalProperties === "object" ? table.additionalProperties : undefined;
          return this.every(table.properties?.[key] ?? other);
        });
      });
    }
    return found.flatMap((each) => (each.items ? [each, ...this.every(each.items)] : [each]));
  }

  keys(path: string[]): Completion[] {
    const found = new Map<string, Completion>();
    for (const schema of this.at(path))
      for (const [name, value] of Object.entries(schema.properties ?? {}))
        if (!found.has(name)) found.set(name, { label: name, type: "property", info: value.description ?? "" });
    return [...found.values()];
  }

  values(path: string[]): Completion[] {
    if (MEASURES.has(path.at(-1) ?? "") && ["figures", "findings", "repeat"].includes(path[0] ?? ""))
      return this.words.measures.map((each) => ({ label: each.name, type: "variable", detail: each.unit, info: each.summary }));
    const found = new Map<string, Completion>();
    for (const schema of this.at(path)) {
      for (const value of [...(schema.enum ?? []), ...(schema.const === undefined ? [] : [schema.const])])
        found.set(String(value), { label: String(value), type: "enum" });
      if (schema.type === "boolean") for (const value of ["true", "false"]) found.set(value, { label: value, type: "keyword" });
    }
    // What a part is for stands in the description of the table that has its name.
    for (const schema of this.at(path)) {
      const name = schema.properties?.name?.const;
      if (typeof name === "string" && schema.description) found.set(name, { label: name, type: "enum", info: schema.description });
    }
    return [...found.values()];
  }
}

/** What CodeMirror asks. */
export function completing(known: () => Known | null) {
  return (context: CompletionContext): CompletionResult | null => {
    const place = placeOf(context.state.sliceDoc(0, context.pos));
    const found = known();
    if (!place || !found || (!context.explicit && place.at === "key" && !place.written)) return null;
    const options = place.at === "key" ? found.keys(place.path) : found.values(place.path);
    if (!options.length) return null;
    const quote = place.at === "value" && !place.quoted;
    const apply = (label: string) => (quote && label !== "true" && label !== "false" ? `"${label}"` : label);
    return {
      from: context.pos - place.written.length,
      options: options.map((each) => ({ ...each, apply: apply(each.label) })),
      validFor: /^[\w.-]*$/,
    };
  };
}
