// node build.mjs [OUT_FILE]: bundles src/ into one self-contained page (default: dist/page.html).
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(root, "dist", "page.html"));
// hgt report puts the data in place of null, so this element must be there exactly once.
const slot = '<script id="report" type="application/json">null</script>';

async function bundle(entry) {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: ["es2022"],
    legalComments: "none",
    logLevel: "warning",
  });
  return { text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs) };
}

// The licenses of the bundled packages want to be passed on with them.
async function licenses(inputs) {
  const folders = inputs.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean);
  const byText = new Map();
  for (const folder of [...new Set(folders)].sort()) {
    const { name, license } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
    const file = (await readdir(join(root, folder))).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? (await readFile(join(root, folder, file), "utf8")).trim() : license;
    byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  return [...byText]
    .map(([text, names]) => `${names.join(", ")}\n\n${text}`)
    .join("\n\n")
    .replaceAll("--", "- -");
}

function count(text, part) {
  return text.split(part).length - 1;
}

const script = await bundle("src/main.ts");
const style = await bundle("src/style.css");
const hash = createHash("sha256").update(script.text).digest("base64");
// Plot writes <style> elements and style attributes into its drawings, hence 'unsafe-inline' for styles only.
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${hash}'`,
  "style-src 'unsafe-inline'",
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { POLICY: policy, STYLE: style.text, SCRIPT: script.text, LICENSES: await licenses(script.inputs) };
const template = await readFile(join(root, "src", "page.html"), "utf8");
const page = template.replace(/@(POLICY|STYLE|SCRIPT|LICENSES)@/g, (_, name) => parts[name]);

if (count(page, slot) !== 1 || count(page, 'id="report"') !== 1) throw new Error("page: no single place for the data");
if (count(page, "</script") !== 2) throw new Error("page: the script would end too early");
await mkdir(dirname(out), { recursive: true });
await writeFile(out, page);
console.log(`${out}: ${Buffer.byteLength(page)} bytes`);
