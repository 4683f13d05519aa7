// node viewer_test.mjs URL OUT_DIR: the live page on a running `hgt view`, whatever its data.
import { check, checkEventually, runTests } from "./browser.mjs";

const [url, outFolder] = process.argv.slice(2);
if (!outFolder) throw new Error("usage: node viewer_test.mjs URL OUT_DIR");
const patience = 120000; // the first answer of a panel may take a while

async function ask(path) {
  const response = await fetch(new URL(path, url)).catch((error) => {
    throw new Error(`${url} does not answer ${path}: ${error.cause?.message ?? error.message}`);
  });
  check(response.ok, `${path} is answered (status ${response.status})`);
  return response.json();
}

function searchPath(type, text) {
  return `/api/search?${new URLSearchParams({ type, q: text })}`;
}

// Some node of the type, and a text that finds it.
async function someNode(type) {
  for (const text of "aeiotnrs0123456789bcdfghjklmpquvwxyz") {
    const [node] = (await ask(searchPath(type, text))).nodes;
    if (node) return { ...node, text: (node.name || node.id).trim() };
  }
  throw new Error(`not so: some letter finds a ${type}`);
}

const report = await ask("/api/report");
check(report.live && report.runs.length === 1, "/api/report is live and has one run");
const [run] = report.runs;
const sample = await someNode(run.task.node);

function title(tab) {
  return tab.section("Ask").locator(".node h3");
}

async function opened(tab, node) {
  await checkEventually(async () => (await title(tab).count()) === 1, `the node ${node.id} opens`, patience);
  check((await title(tab).innerText()).trim() !== "", "it has a title");
}

function isClassTask() {
  return run.task.classes > 0;
}

async function pageShowsTheRun(tab) {
  await tab.visit(url);
  check((await tab.page.locator("h1").innerText()) === run.name, "the heading is the run's name");
  const types = await tab.section("Graph").locator("table").first().locator("tbody tr").count();
  check(types === run.graph.nodes.length, "each node type has a row");
  await tab.shot("viewer-start", { fullPage: false });
}

async function panelsLoad(tab) {
  await tab.visit(url);
  for (const name of ["Confusion", "Attention tree", "Evolution", "Batch balance"]) {
    const section = tab.section(name);
    await section.scrollIntoViewIfNeeded();
    await checkEventually(
      async () => (await section.locator(".panel > *:not(.loading)").count()) > 0,
      `${name} is loaded`,
      patience,
    );
    check(
      (await section.getByRole("alert").count()) === 0,
      `${name} loads without an error: ${await section.innerText()}`,
    );
  }
  await tab.page.evaluate(() => scrollTo(0, 0));
  await tab.shot("viewer-panels");
}

async function searchOpensANode(tab) {
  await tab.visit(url);
  await tab.page.getByRole("combobox", { name: "Type" }).selectOption(sample.type);
  const box = tab.page.getByRole("combobox", { name: "Node" });
  await box.fill(sample.text);
  await tab.page.getByRole("listbox").getByRole("option").first().waitFor();
  await box.press("ArrowDown");
  await box.press("Enter");
  await opened(tab, sample);
  const section = tab.section("Ask");
  if (isClassTask())
    check(
      (await section.locator("table", { hasText: "Most probable classes" }).count()) === 1,
      "there is a prediction",
    );
  check(
    (await section.getByRole("heading", { name: "Neighbors that matter" }).count()) === 1,
    "the neighbors are shown",
  );
  const answer = await ask(`/api/node?${new URLSearchParams({ type: sample.type, id: sample.id })}`);
  if (answer.attention) check((await section.locator(".drawing svg").count()) === 2, "the attention trees are drawn");
  await tab.shot("viewer-node");
}

async function sliderChangesTheNeighbors(tab) {
  const { steps } = run.graph;
  if (steps.length < 2) return;
  const lasting = run.graph.nodes.filter((each) => !each.event && each.nodes > 2).sort((a, b) => a.nodes - b.nodes);
  const type = lasting[0]?.type ?? run.task.node;
  const node = await someNode(type);
  await tab.visit(new URL(`#${[type, node.id, steps.at(-1)].map(encodeURIComponent).join("/")}`, url).href);
  await opened(tab, node);
  const nearest = tab.section("Ask").locator("table", { hasText: "Nearest" });
  await nearest.waitFor({ timeout: patience });
  const before = await nearest.locator("tbody").innerText();
  await tab.section("Ask").getByRole("slider", { name: "Time" }).focus();
  await tab.page.keyboard.press("Home");
  await checkEventually(
    async () => (await nearest.innerText()).includes(steps[0]),
    "the nearest nodes follow the slider",
    patience,
  );
  check((await nearest.locator("tbody").innerText()) !== before, "the nearest nodes at another time are others");
  check(decodeURIComponent(tab.page.url()).endsWith(`/${steps[0]}`), "the address follows the slider");
  await tab.shot("viewer-slider", { fullPage: false });
}

async function wrongIdsAreSaid(tab) {
  tab.expected.push("404", "400");
  await tab.visit(new URL(`#${encodeURIComponent(sample.type)}/${encodeURIComponent("no such node <b>")}`, url).href);
  const alert = tab.section("Ask").getByRole("alert");
  await alert.waitFor({ timeout: patience });
  check((await alert.locator("p").innerText()).length > 10, "a wrong id is answered with a sentence");
}

await runTests(
  [
    ["the page shows the run", pageShowsTheRun],
    ["its panels load", panelsLoad],
    ["search finds, Enter opens", searchOpensANode],
    ["the time slider changes the nearest nodes", sliderChangesTheNeighbors],
    ["a wrong id is answered with a sentence", wrongIdsAreSaid],
  ],
  outFolder,
);
