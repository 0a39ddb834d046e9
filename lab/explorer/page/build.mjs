// Makes the page: one HTML file with the style, the scripts, and the library in it. The same sources give the same bytes.
// usage: node build.mjs ENGINE.js ENGINE.wasm CHANGELOG.md OUTPUT.html
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [engine, wasm, changelog, output] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");
const packages = new Set();

async function bundled(file, format) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(source, file)], bundle: true, minify: true, format, target: "es2022", write: false, metafile: true,
    legalComments: "inline", jsx: "automatic", jsxImportSource: "preact",
  });
  for (const input of Object.keys(metafile.inputs)) {
    const [, name] = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/) ?? [];
    if (name !== undefined) packages.add(name);
  }
  return outputFiles[0].text;
}
// Within an element the end of a script, and the begin of a comment, must not stand.
const embedded = (script) => script.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");

/** The licences of the packages in the page. */
async function licences() {
  const texts = [...packages].sort().map(async (name) => {
    const folder = join(here, "node_modules", name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n");
}

/** "0.2.0", or "after 0.2.0" while the changelog begins with what is not released. */
function versionOf(text) {
  const [first, second] = [...text.matchAll(/^## \[([^\]]+)\]/gm)].map((heading) => heading[1]);
  return first === "Unreleased" ? `after ${second}` : first;
}

const [page, worker, glue, style, template, log] = await Promise.all([
  bundled("main.tsx", "esm"), bundled("worker.ts", "iife"), readFile(engine, "utf8"),
  readFile(join(source, "style.css"), "utf8"), readFile(join(source, "index.html"), "utf8"), readFile(changelog, "utf8"),
]);
// The zlib of node compresses differently on other processors, and gzip does not.
const packed = execFileSync("gzip", ["-9nc", wasm], { maxBuffer: 1 << 28 });
const parts = {
  VERSION: versionOf(log),
  STYLE: style,
  WASM: packed.toString("base64"),
  WORKER: embedded(glue + "\n" + worker),
  LICENCES: embedded(await licences()),
  PAGE: embedded(page),
};
const html = template.replace(/\/\*([A-Z]+)\*\//g, (_, name) => parts[name]);
await writeFile(output, html);
console.log(`${output}: ${html.length} bytes, of which the library ${parts.WASM.length}`);
