// Makes the page: one HTML file with the style, the scripts, and the library in it.
// usage: node build.mjs ENGINE.js ENGINE.wasm OUTPUT.html
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [engine, wasm, output] = process.argv.slice(2);
const source = join(dirname(fileURLToPath(import.meta.url)), "src");

async function bundled(file, format) {
  const { outputFiles } = await build({
    entryPoints: [join(source, file)], bundle: true, minify: true, format, target: "es2022", write: false,
    legalComments: "inline", jsx: "automatic", jsxImportSource: "preact",
  });
  return outputFiles[0].text;
}
// Within an element the end of a script, and the begin of a comment, must not stand.
const embedded = (script) => script.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");

const [page, worker, glue, style, template, bytes] = await Promise.all([
  bundled("main.tsx", "esm"), bundled("worker.ts", "iife"), readFile(engine, "utf8"),
  readFile(join(source, "style.css"), "utf8"), readFile(join(source, "index.html"), "utf8"), readFile(wasm),
]);
const parts = {
  STYLE: style,
  WASM: gzipSync(bytes, { level: 9 }).toString("base64"),
  WORKER: embedded(glue + "\n" + worker),
  PAGE: embedded(page),
};
const html = template.replace(/\/\*([A-Z]+)\*\//g, (_, name) => parts[name]);
await writeFile(output, html);
console.log(`${output}: ${html.length} bytes, of which the library ${parts.WASM.length} (${bytes.length} unpacked)`);
