// node page_test.mjs PAGE.html OUT_DIR: the page on made-up data, in a real browser.
import { readFile } from "node:fs/promises";
import { runTests } from "./browser.mjs";
import { startServer } from "./fake_view.mjs";
import { liveTests } from "./live_part.mjs";
import { reportTests } from "./report_part.mjs";

const [pageFile, outFolder] = process.argv.slice(2);
if (!outFolder) throw new Error("usage: node page_test.mjs PAGE.html OUT_DIR");
const page = await readFile(pageFile, "utf8");
await runTests([...reportTests(page), ...liveTests(await startServer(page))], outFolder);
