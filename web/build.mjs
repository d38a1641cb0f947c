// Builds the pages into the Python package, or into the folder that is named; the same sources give the same bytes.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const out = process.argv[2] ?? "../python/sawtooth/web/static";
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const { metafile } = await build({
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
  metafile: true,
});
await cp("src/index.html", `${out}/index.html`);
await cp("src/icon.svg", `${out}/icon.svg`);
await writeFile(`${out}/licenses.txt`, await licenses(Object.keys(metafile.inputs)));

/** The licences of the packages that are in the pages: each asks that its text goes with it. */
async function licenses(inputs) {
  const named = inputs.map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]).filter(Boolean);
  const parts = [...new Set(named)].sort().map(async (name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? (await readFile(`${folder}/${file}`, "utf8")).trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return (await Promise.all(parts)).join(`\n${"-".repeat(72)}\n\n`);
}
