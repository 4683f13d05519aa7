// What the browser tests share: Chromium, a page whose every complaint is a failure, and checks with a sentence.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];

// Failures before the first test are said as briefly as those of a test.
process.on("uncaughtException", (error) => {
  console.error(`FAILED  ${error.message}`);
  process.exit(1);
});

export function check(condition, sentence) {
  if (!condition) throw new Error(`not so: ${sentence}`);
}

export async function checkEventually(condition, sentence, timeout = 10000) {
  const end = Date.now() + timeout;
  while (!(await condition())) {
    check(Date.now() < end, sentence);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Runs the tests, each [sentence, function of a Tab]; ends the process with 1 if any fails.
export async function runTests(tests, outFolder) {
  if (!existsSync(executablePath)) throw new Error(`${executablePath} is missing; run: apt-get install chromium`);
  await mkdir(outFolder, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: [...flags, ...quiet] });
  let failures = 0;
  for (const [sentence, test] of tests) {
    const tab = await Tab.open(browser, outFolder);
    try {
      await test(tab);
      tab.checkQuiet();
      console.log(`ok      ${sentence}`);
    } catch (error) {
      failures += 1;
      console.error(`FAILED  ${sentence}\n        ${error.message}`);
      await tab.shot(`failed-${failures}`).catch(() => {});
    }
    await tab.close();
  }
  await browser.close();
  console.log(
    failures === 0 ? `${tests.length} tests passed` : `${failures} of ${tests.length} tests failed; see ${outFolder}`,
  );
  process.exit(failures === 0 ? 0 : 1);
}

class Tab {
  static async open(browser, outFolder) {
    const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, reducedMotion: "reduce" });
    const tab = new Tab();
    tab.context = context;
    tab.outFolder = outFolder;
    tab.complaints = [];
    tab.expected = []; // parts of complaints that a test provokes
    tab.page = await context.newPage();
    tab.page.setDefaultTimeout(15000);
    tab.listen();
    return tab;
  }

  listen() {
    const complain = (text) => this.complaints.push(text);
    this.page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()))
        complain(`console: ${message.text()} ${message.location().url}`);
    });
    this.page.on("pageerror", (error) => complain(`page: ${error.message}`));
    this.page.on("dialog", (dialog) => {
      complain(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    this.page.on("requestfailed", (request) => {
      const { errorText } = request.failure();
      if (errorText !== "net::ERR_ABORTED") complain(`request: ${request.url()} ${errorText}`); // aborted: no longer wanted
    });
    this.page.on("request", (request) => {
      const url = new URL(request.url());
      const own = url.protocol === "data:" || url.protocol === "file:" || url.host === new URL(this.home).host;
      if (!own) complain(`external request: ${request.url()}`);
    });
    this.page.on("response", (response) => {
      if (response.status() >= 400) complain(`status ${response.status()}: ${response.url()}`);
    });
  }

  async visit(url) {
    this.home = url;
    await this.page.goto(url);
    await this.page.locator("main h2, main h3").first().waitFor();
  }

  checkQuiet() {
    const left = this.complaints.filter((text) => !this.expected.some((part) => text.includes(part)));
    check(left.length === 0, `the browser has nothing to complain about: ${left.join("; ")}`);
  }

  section(title) {
    return this.page.locator("section", { has: this.page.getByRole("heading", { name: title, exact: true }) });
  }

  async shot(name, options = {}) {
    await this.page.screenshot({ path: join(this.outFolder, `${name}.png`), fullPage: true, ...options });
  }

  async close() {
    await this.context.close();
  }
}
