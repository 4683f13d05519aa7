// The page on a live, made-up server.
import { check, checkEventually } from "./browser.mjs";

let server = null;

async function searchFor(tab, text) {
  const box = tab.page.getByRole("combobox", { name: "Node" });
  await box.fill(text);
  await tab.page.getByRole("listbox").getByRole("option").first().waitFor();
  return box;
}

function nodeTitle(tab) {
  return tab.section("Ask").locator(".node h3");
}

function nearest(tab) {
  return tab.section("Ask").locator("table", { hasText: "Nearest" });
}

async function scrollThrough(tab) {
  for (const section of await tab.page.locator("section:visible").all()) {
    await section.scrollIntoViewIfNeeded();
    await checkEventually(
      async () => (await section.locator("[aria-busy]").count()) === 0,
      "a panel is loaded in time",
    );
  }
  await tab.page.evaluate(() => scrollTo(0, 0));
}

async function livePanelsLoadWhenSeen(tab) {
  const asked = [];
  tab.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await tab.visit(server.url);
  check(!asked.includes("/api/balance"), "what is not in view is not fetched");
  await scrollThrough(tab);
  for (const part of ["confusion", "attention", "evolution", "balance"]) {
    check(asked.filter((path) => path === `/api/${part}`).length === 1, `${part} is fetched once`);
  }
  check((await tab.section("Attention tree").locator(".drawing svg").count()) === 2, "the trees are drawn");
  check((await tab.section("Batch balance").locator("table").count()) === 2, "the balance is shown");
  await tab.shot("live-start");
}

async function searchOpensNodes(tab) {
  await tab.visit(server.url);
  const box = await searchFor(tab, "graph");
  await checkEventually(
    async () => (await tab.section("Ask").locator(".status").innerText()) === "3 nodes found.",
    "the number found is said",
  );
  await box.press("ArrowDown");
  await box.press("ArrowDown");
  check(
    (await tab.page.getByRole("listbox").getByRole("option", { selected: true }).innerText()).includes("Ägypten"),
    "the arrow moves the selection",
  );
  await box.press("Enter");
  await checkEventually(async () => (await nodeTitle(tab).innerText()) === "Graphs of Ägypten", "Enter opens the node");
  check(tab.page.url().endsWith("#paper/P1"), "the address names the node");
  check((await tab.section("Ask").locator(".right-mark").count()) === 1, "the truth is marked");
  check((await tab.section("Ask").locator(".changed").count()) >= 1, "neighbors that change the prediction stand out");
  check((await tab.section("Ask").locator(".drawing svg").count()) === 2, "the node's attention trees are there");
  await scrollThrough(tab);
  await tab.shot("live-light");
  await tab.page.getByRole("button", { name: "Use dark colors" }).click();
  await tab.shot("live-dark");
  await tab.page.setViewportSize({ width: 390, height: 800 });
  const width = await tab.page.evaluate(() => document.documentElement.scrollWidth);
  check(width <= 390, `the live page is not wider than the screen (${width})`);
  await tab.shot("live-narrow");
}

async function enterDoesNotWait(tab) {
  await tab.visit(server.url);
  const box = tab.page.getByRole("combobox", { name: "Node" });
  await box.pressSequentially("learning");
  await box.press("Enter");
  await checkEventually(
    async () => (await nodeTitle(tab).count()) === 1,
    "Enter before the answer opens the first node",
  );
  check((await nodeTitle(tab).innerText()) === "Learning to rank graphs", "it is the right one");
}

async function slidersChangeNeighbors(tab) {
  await tab.visit(`${server.url}#venue/V0/2010`);
  await checkEventually(
    async () => (await nearest(tab).innerText()).includes("at 2010"),
    "the link opens node and time",
  );
  const before = await nearest(tab).locator("tbody").innerText();
  const slider = tab.section("Ask").getByRole("slider", { name: "Time" });
  await slider.focus();
  for (let step = 0; step < 4; ++step) await tab.page.keyboard.press("ArrowRight");
  await checkEventually(
    async () => (await nearest(tab).innerText()).includes("at 2014"),
    "the nearest nodes follow the slider",
  );
  check((await nearest(tab).locator("tbody").innerText()) !== before, "they are others");
  check(tab.page.url().endsWith("#venue/V0/2014"), "the address follows");
  check(
    (await tab.section("Ask").innerText()).includes("task paper-venue is about nodes of type paper, not venue"),
    "no prediction for venues, and why",
  );
  check((await tab.section("Ask").innerText()).includes("the node itself gets 7.3 %"), "the node's own share is said");
}

async function absenceIsSaid(tab) {
  const hint = tab.section("Ask").locator(".hint", { hasText: "It is not in the graph by 2007" });
  await tab.visit(`${server.url}#venue/V0/2009`);
  await nearest(tab).waitFor();
  check(!(await tab.section("Ask").innerText()).includes("It is not in the graph"), "a node that is there is not called absent");
  check(!(await tab.section("Ask").innerText()).includes("index"), "no recall where all were compared");
  await tab.section("Ask").getByRole("slider", { name: "Time" }).focus();
  for (let step = 0; step < 2; ++step) await tab.page.keyboard.press("ArrowLeft");
  await hint.waitFor();
  await tab.visit(`${server.url}#author/A0/2010`);
  await tab.page.reload();
  await nearest(tab).waitFor();
  check((await tab.section("Ask").innerText()).includes("finds 98.8 % of the nearest"), "the index's recall is stated");
}

async function cutSearchesAreSaid(tab) {
  await tab.visit(server.url);
  await tab.page.getByRole("combobox", { name: "Node" }).fill("slowly");
  await checkEventually(
    async () => (await tab.section("Ask").locator(".status").innerText()).includes("before the time was up"),
    "a search that was cut short does not say that there is nothing",
  );
}

async function staleAnswersAreDropped(tab) {
  server.slow.add("2011");
  await tab.visit(`${server.url}#venue/V0/2010`);
  await nearest(tab).waitFor();
  await tab.section("Ask").getByRole("slider", { name: "Time" }).focus();
  const asked = tab.page.waitForRequest(/at=2011/);
  await tab.page.keyboard.press("ArrowRight");
  await asked;
  await tab.page.keyboard.press("ArrowRight");
  await checkEventually(async () => (await nearest(tab).innerText()).includes("at 2012"), "the later answer is shown");
  await tab.page.waitForTimeout(1000);
  check((await nearest(tab).innerText()).includes("at 2012"), "the earlier, slower answer does not replace it");
}

async function linksAndHistoryWork(tab) {
  await tab.visit(`${server.url}#paper/P0`);
  await nodeTitle(tab).waitFor();
  await tab.section("Ask").getByRole("link", { name: "Graphs of Ägypten" }).first().click();
  await checkEventually(
    async () => (await nodeTitle(tab).innerText()) === "Graphs of Ägypten",
    "a neighbor can be opened",
  );
  await tab.page.goBack();
  await checkEventually(
    async () => (await nodeTitle(tab).innerText()) === "Graph attention for people",
    "back goes back",
  );
  await searchFor(tab, "A/1");
  await tab.page.keyboard.press("Enter");
  await checkEventually(
    async () => (await nodeTitle(tab).innerText()) === "A/1 ü",
    "a node without a name is called by its id",
  );
  await tab.page.reload();
  await checkEventually(
    async () => (await nodeTitle(tab).innerText()) === "A/1 ü",
    "an id with a slash survives the address",
  );
}

async function keyboardIsEnough(tab) {
  await tab.visit(server.url);
  await tab.page.keyboard.press("Tab");
  check(
    (await tab.page.evaluate(() => document.activeElement.className)) === "skip",
    "the first stop skips to the content",
  );
  await tab.page.keyboard.press("Enter");
  await tab.page.keyboard.press("Tab");
  check((await tab.page.evaluate(() => document.activeElement.tagName)) === "SELECT", "the next stop is the type");
  await tab.page.keyboard.press("Tab");
  await tab.page.keyboard.type("kdd");
  await tab.page.getByRole("listbox").getByRole("option").first().waitFor();
  await tab.page.keyboard.press("Escape");
  check((await tab.page.getByRole("listbox").count()) === 0, "Escape closes the list");
  await tab.page.keyboard.press("ArrowDown");
  await tab.page.keyboard.press("Enter");
  await checkEventually(
    async () => (await nodeTitle(tab).count()) === 1 && (await nodeTitle(tab).innerText()) === "KDD",
    "the node opens",
  );
  check(await nodeTitle(tab).evaluate((title) => title === document.activeElement), "the focus is at the node");
}

async function failuresAreSaid(tab) {
  tab.expected.push("503", "404");
  server.failing.add("/api/attention").add("/api/search");
  await tab.visit(`${server.url}#paper/none`);
  await checkEventually(
    async () => (await tab.section("Ask").innerText()).includes("There is no node of type paper with the id none."),
    "a wrong id is said",
  );
  await tab.page.getByRole("combobox", { name: "Node" }).fill("x");
  await checkEventually(
    async () => (await tab.section("Ask").locator(".status").innerText()).includes("being loaded"),
    "a failed search is said",
  );
  const section = tab.section("Attention tree");
  await section.scrollIntoViewIfNeeded();
  await section.getByRole("alert").waitFor();
  check((await section.innerText()).includes("The model is being loaded"), "a failed panel is said");
  server.failing.clear();
  await section.getByRole("button", { name: "Try again" }).click();
  await section.locator(".drawing svg").first().waitFor();
}

export function liveTests(fakeView) {
  server = fakeView;
  return [
    ["live panels load when seen", livePanelsLoadWhenSeen],
    ["search finds, arrows choose, Enter opens", searchOpensNodes],
    ["Enter does not have to wait for the answer", enterDoesNotWait],
    ["the time slider changes the nearest nodes", slidersChangeNeighbors],
    ["nodes that are not there yet, and an index's recall, are said", absenceIsSaid],
    ["searches that were cut short are said", cutSearchesAreSaid],
    ["answers that come too late are dropped", staleAnswersAreDropped],
    ["links, history and odd ids work", linksAndHistoryWork],
    ["the keyboard is enough", keyboardIsEnough],
    ["failures are said, and can be tried again", failuresAreSaid],
  ];
}
