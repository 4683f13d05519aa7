// The page as a report file.
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, checkEventually } from "./browser.mjs";
import { hostileName, manyRuns, oneRun, withReport } from "./fixture.mjs";

let html = "";

const titles = [
  "Results",
  "Learning curves",
  "Confusion",
  "Attention tree",
  "Evolution",
  "Graph",
  "Batch balance",
  "Timing",
  "Options and environment",
];

async function visitReport(tab, report, name = "report") {
  const file = resolve(tab.outFolder, `${name}.html`);
  await writeFile(file, withReport(html, report));
  await tab.visit(pathToFileURL(file).href);
}

async function reportHasItsSections(tab) {
  await visitReport(tab, oneRun(), "one");
  for (const title of titles) check((await tab.section(title).count()) === 1, `the report has the section ${title}`);
  check((await tab.page.locator("h1").innerText()) === "venue-hgt.run", "the heading is the run's name");
  check(
    (await tab.page.getByRole("list", { name: "Headline metrics" }).innerText()).includes("0.468"),
    "NDCG is in the header",
  );
  check(
    (await tab.section("Learning curves").locator("figure svg[role=img]").count()) === 2,
    "there are two curve charts",
  );
  check(
    (await tab.section("Learning curves").locator("figure").first().locator("path").count()) >= 10,
    "each seed has two lines",
  );
  check((await tab.section("Confusion").locator("tbody th[scope=row]").count()) === 11, "each class has a row");
  check((await tab.section("Evolution").locator(".map circle").count()) === 36, "each node is on the map");
  await tab.shot("report-one-light");
}

async function treesAreLists(tab) {
  await visitReport(tab, oneRun(), "one");
  const section = tab.section("Attention tree");
  check((await section.locator(".drawing svg").count()) === 2, "both forms are drawn");
  const lists = section.getByText("The tree as a list");
  await lists.first().click();
  const first = section.locator(".tree").first();
  const shares = await first.locator("> li > .branch .share").allInnerTexts();
  check(shares.join() === "46.0 %,33.0 %,14.0 %,7.0 %", `the branches of the root sum to one: ${shares}`);
  check((await first.locator("> li").last().innerText()).startsWith("others"), "what was left out comes last");
  await lists.last().click();
  const second = section.locator("details").last().locator(".tree").first();
  await second.waitFor();
  const means = await second.locator("> li > .branch .share").allInnerTexts();
  check(means.join() === "0.6213,0.5871,0.0519", `means are no shares: ${means}`);
  check((await second.locator("> li").last().innerText()).startsWith("others, at most"), "nor do they have a sum");
  const captions = await section.locator(".caption").allInnerTexts();
  check(captions.some((text) => text.includes("layers 3 and 2")), "the caption says from which layer on");
}

// What is drawn for a line: the colors of its points.
async function chartsTellLinesApart(tab) {
  await visitReport(tab, oneRun(), "one");
  const chart = tab.section("Evolution").locator("figure", { hasText: "Similarity to WWW" });
  const fills = await chart
    .locator("svg circle")
    .evaluateAll((dots) => dots.map((dot) => dot.getAttribute("fill") ?? dot.parentElement.getAttribute("fill")));
  check(new Set(fills).size === 7, `each of the seven lines has a color of its own: ${[...new Set(fills)]}`);
  check(fills.length === 5 * 15 + 9 + 1, `each time of each line has a dot, a single one too: ${fills.length}`);
  await chart.getByText("Numbers").click();
  const late = chart.locator("tbody tr").nth(1).locator("td");
  check((await late.first().innerText()) === "–", "a time at which a node is not there has no number");
}

async function onlyWhatScrollsIsAStop(tab) {
  await tab.page.setViewportSize({ width: 390, height: 800 });
  await visitReport(tab, oneRun(), "one");
  const matrix = tab.section("Confusion").locator(".scroll");
  check((await matrix.getAttribute("tabindex")) === "0", "a wide table can be reached by keyboard");
  check((await matrix.getAttribute("aria-label")).includes("examples of the test split"), "and has a name");
  await tab.page.setViewportSize({ width: 1360, height: 900 });
  await checkEventually(
    async () => (await tab.page.locator(".scroll[tabindex]").count()) === 0,
    "tables that fit are no stops",
  );
}

async function runsAreCompared(tab) {
  await visitReport(tab, manyRuns());
  const table = tab.section("Comparison").locator("table").first();
  check((await table.locator("tbody tr").count()) === 2, "the comparison has a row for each scored run");
  check((await table.locator("tbody tr").first().locator("td strong").count()) === 7, "the better run is bold");
  check((await table.locator("tbody tr").last().locator("td strong").count()) === 0, "the worse run is not bold");
  await tab.shot("report-light");
  await tab.page.getByRole("tab", { name: "venue-hgt.run" }).focus();
  await tab.page.keyboard.press("End");
  const hints = await tab.page.getByRole("tabpanel").innerText();
  check(hints.includes("hgt evaluate unfinished.run"), "a run without results says how to score it");
  check((await tab.page.getByRole("tabpanel").locator(".hint").count()) >= 6, "every empty section says what to do");
  await tab.shot("report-empty");
}

async function hostileNamesAreText(tab) {
  await visitReport(tab, manyRuns());
  await tab.page.getByRole("tab").nth(1).click();
  check(
    (await tab.page.getByRole("tabpanel").locator("h2").innerText()) === `venue-gcn ${hostileName}`,
    "the name is shown as it is",
  );
  await tab.page.evaluate(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  check((await tab.page.locator("main b, main img").count()) === 0, "no name became an element");
  check((await tab.page.getByRole("tabpanel").innerText()).includes(hostileName), "an option's value is shown as text");
}

async function activeDrawingsAreRefused(tab) {
  tab.expected.push("inline event handler"); // the policy speaks up even before the page refuses
  const bad = [
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"><g><rect onclick="alert(1)"/></g></svg>',
    "<svg",
  ];
  for (const svg of bad) {
    const report = oneRun();
    for (const tree of Object.values(report.runs[0].attention)) tree.svg = svg;
    await visitReport(tab, report, "bad-drawing");
    check((await tab.section("Attention tree").locator("svg").count()) === 0, `refused: ${svg}`);
    check((await tab.section("Attention tree").innerText()).includes("46.0 %"), "the tree is there as a list");
  }
}

async function themeToggles(tab) {
  await visitReport(tab, oneRun(), "one");
  const ground = () => tab.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await tab.page.getByRole("button", { name: "Use dark colors" }).click();
  check((await ground()) !== light, "the dark theme has another ground");
  await tab.shot("report-one-dark");
  await tab.page.getByRole("button", { name: "Use light colors" }).click();
  check((await ground()) === light, "the toggle goes back");
  await tab.page.emulateMedia({ colorScheme: "dark" });
  await tab.page.evaluate(() => localStorage.clear());
  await tab.page.reload();
  check((await ground()) !== light, "the system's choice of dark is followed");
}

async function narrowPagesFit(tab) {
  await tab.page.setViewportSize({ width: 390, height: 800 });
  await visitReport(tab, manyRuns());
  const width = await tab.page.evaluate(() => document.documentElement.scrollWidth);
  check(width <= 390, `the page is not wider than the screen (${width})`);
  await tab.shot("report-narrow");
}

async function mapFollowsTheSlider(tab) {
  await visitReport(tab, oneRun(), "one");
  const section = tab.section("Evolution");
  const first = section.locator(".map g.focus").first();
  const before = await first.getAttribute("style");
  const slider = section.getByRole("slider", { name: "Time" });
  await slider.focus();
  await tab.page.keyboard.press("Home");
  check((await first.getAttribute("style")) !== before, "the node moved");
  check((await slider.getAttribute("aria-valuetext")) === "2004", "the slider says its time");
  check((await section.locator(".map g.absent").count()) === 6, "nodes that are not there yet are not shown");
}

async function allRunsArePrinted(tab) {
  await visitReport(tab, manyRuns());
  const pdf = await tab.page.pdf({ path: join(tab.outFolder, "report.pdf"), format: "A4" });
  check(pdf.length > 50000, "the print has content");
  const filled = await tab.page.evaluate(() =>
    [...document.querySelectorAll(".run")].every((run) => run.childElementCount > 5),
  );
  check(filled, "every run is in the print");
}

export function reportTests(page) {
  html = page;
  return [
    ["a report has its sections", reportHasItsSections],
    ["the tree's list has all shares", treesAreLists],
    ["lines of a chart can be told apart", chartsTellLinesApart],
    ["what has to be scrolled can be reached by keyboard", onlyWhatScrollsIsAStop],
    ["several runs are compared, empty sections say what to do", runsAreCompared],
    ["names that look like HTML are shown as text", hostileNamesAreText],
    ["drawings that could act are refused", activeDrawingsAreRefused],
    ["the theme follows the system and the button", themeToggles],
    ["a narrow screen is enough", narrowPagesFit],
    ["the map follows its slider", mapFollowsTheSlider],
    ["all runs are printed", allRunsArePrinted],
  ];
}
