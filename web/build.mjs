// Builds the pages into the Python package, or into the folder that is named; the same sources give the same bytes.
import { cp, mkdir, rm } from "node:fs/promises";
import { build } from "esbuild";

const out = process.argv[2] ?? "../python/sawtooth/web/static";
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  chunkNames: "[name]-[hash]",
  legalComments: "none",
  logLevel: "warning",
});
await cp("src/index.html", `${out}/index.html`);
await cp("src/icon.svg", `${out}/icon.svg`);
