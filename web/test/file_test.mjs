// node file_test.mjs REPORT.html OUT_DIR: a file that `hgt report` wrote, whatever its data, opened without a server.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, runTests } from "./browser.mjs";

const [reportFile, outFolder] = process.argv.slice(2);
if (!outFolder) throw new Error("usage: node file_test.mjs REPORT.html OUT_DIR");
const url = pathToFileURL(resolve(reportFile)).href;
const data = /<script id="report" type="application\/json">(.*?)<\/script>/s.exec(await readFile(reportFile, "utf8"));
check(data, "there is a report in the page");
const [run] = JSON.parse(data[1]).runs;

async function everySectionIsFilled(tab) {
  await tab.visit(url);
  check((await tab.page.locator("h1").innerText()) === run.name, "the heading is the run's name");
  check((await tab.section("Ask").count()) === 0, "there is nobody to ask");
  for (const name of ["Confusion", "Attention tree", "Evolution", "Batch balance"]) {
    const section = tab.section(name);
    check((await section.locator("table, svg").count()) > 0, `${name} shows something`);
    check((await section.locator(".hint, .failure").count()) === 0, `${name} misses nothing`);
  }
  await tab.shot("file");
}

async function evolutionIsThatOfTheFile(tab) {
  await tab.visit(url);
  const section = tab.section("Evolution");
  const { focus, map } = run.evolution;
  check(focus.length > 0 && (await section.locator("figure .chart").count()) === focus.length + 1, "charts and map");
  const ids = new Set(map.flatMap((step) => step.points.map((point) => point.id)));
  check((await section.locator(".map circle").count()) === ids.size, "each node is on the map");
  for (const [index, { lines }] of focus.entries()) {
    const chart = section.locator("figure").nth(index);
    const points = lines.flatMap((line) => line.similarity).filter((value) => value !== null);
    check((await chart.locator("svg circle").count()) === points.length, "each known similarity has a dot");
  }
}

await runTests(
  [
    ["a report file has all its sections", everySectionIsFilled],
    ["its evolution is that of the data", evolutionIsThatOfTheFile],
  ],
  outFolder,
);
