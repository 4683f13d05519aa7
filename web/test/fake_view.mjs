// A made-up `hgt view`, for tests and for working on the page:
//   node fake_view.mjs PAGE.html              serves the live page at http://127.0.0.1:8765
//   node fake_view.mjs PAGE.html REPORT.html  writes a report of several runs
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import {
  attention,
  generator,
  hostileName,
  longName,
  manyRuns,
  oneRun,
  steps,
  venues,
  withReport,
} from "./fixture.mjs";

const papers = [
  "Graph attention for people",
  "Graphs of Ägypten",
  "Learning to rank graphs",
  hostileName,
  `${longName}: a survey`,
];
const nodes = [
  ...papers.map((name, index) => ({ type: "paper", id: `P${index}`, name, time: String(2012 + index) })),
  ...["Ada Nowak", "Bo Ødegård", "Chen Wei"].map((name, index) => ({
    type: "author",
    id: `A${index}`,
    name,
    time: "",
  })),
  ...venues.map((name, index) => ({ type: "venue", id: `V${index}`, name, time: "" })),
  { type: "author", id: "A/1 ü", name: "", time: "" },
];

function distribution(seed) {
  const random = generator(seed);
  const shares = Array.from({ length: 10 }, () => random() ** 4);
  const sum = shares.reduce((total, share) => total + share, 0) * 1.05;
  const order = shares.map((share, index) => ({ class: `V${index}`, name: venues[index], probability: share / sum }));
  return order.sort((a, b) => b.probability - a.probability);
}

function nodeAnswer(node) {
  const isPaper = node.type === "paper";
  const neighbors = nodes
    .filter((other) => other.id !== node.id)
    .slice(0, 8)
    .map((other, index) => ({
      node: other,
      relations: index % 3 === 0 ? ["cites", "rev_cites"] : ["rev_writes_first"],
      share: 0.3 / (index + 1),
      without: isPaper ? distribution(40 + (index > 3 ? 0 : index)) : null,
    }));
  const prediction = isPaper ? distribution(40) : null;
  return {
    node,
    prediction,
    no_prediction: isPaper ? null : `task paper-venue is about nodes of type paper, not ${node.type}`,
    self: 0.0731,
    truth: isPaper ? [prediction[1].name] : [],
    neighbors,
    attention: attention(node.name || node.id, 1),
  };
}

function similarAnswer(parameters) {
  const at = parameters.get("at") ?? "";
  if (at && !steps.includes(at))
    return [400, { error: `There is no time ${at}: it must be from ${steps[0]} to ${steps.at(-1)}.` }];
  const random = generator(Number(at) + 3);
  const others = nodes.filter((node) => node.type === parameters.get("type") && node.id !== parameters.get("id"));
  const nearest = others.map(({ id, name }) => ({ id, name, distance: 0.3 + 2 * random() }));
  nearest.sort((a, b) => a.distance - b.distance);
  const top = nearest
    .slice(0, Number(parameters.get("top") ?? 10))
    .map((row) => ({ ...row, similarity: 1 / (1 + row.distance) }));
  const is_there = at === "" || Number(at) > 2008;
  const recall = parameters.get("type") === "author" ? 0.9875 : null;
  return [200, { time: at, among: "all nodes of the type", is_there, recall, nearest: top }];
}

function answer(path, parameters) {
  const run = oneRun().runs[0];
  const panel = /^\/api\/(confusion|attention|evolution|balance)$/.exec(path)?.[1];
  if (panel) return [200, run[panel]];
  if (path === "/api/report") {
    return [
      200,
      { ...oneRun(), live: true, runs: [{ ...run, confusion: null, attention: null, evolution: null, balance: null }] },
    ];
  }
  const type = parameters.get("type");
  if (path === "/api/search") {
    const text = (parameters.get("q") ?? "").toLowerCase();
    const found = nodes.filter(
      (node) => (!type || node.type === type) && `${node.name} ${node.id}`.toLowerCase().includes(text),
    );
    return [200, { nodes: found.slice(0, 20), stopped_early: text.startsWith("slow") }];
  }
  const node = nodes.find((other) => other.type === type && other.id === parameters.get("id"));
  if (!node) return [404, { error: `There is no node of type ${type} with the id ${parameters.get("id")}.` }];
  if (path === "/api/node") return [200, nodeAnswer(node)];
  return path === "/api/similar" ? similarAnswer(parameters) : [404, { error: `There is nothing at ${path}.` }];
}

// failing: paths that answer with an error; slow: times whose nearest nodes take a while.
export async function startServer(page, port = 0) {
  const failing = new Set();
  const slow = new Set();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    const send = (status, type, text) => response.writeHead(status, { "content-type": type }).end(text);
    if (pathname === "/") return send(200, "text/html; charset=utf-8", page);
    const [status, data] = failing.has(pathname)
      ? [503, { error: "The model is being loaded; try again in a moment." }]
      : answer(pathname, searchParams);
    setTimeout(
      () => send(status, "application/json", JSON.stringify(data)),
      slow.has(searchParams.get("at")) ? 800 : 40,
    );
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, failing, slow, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [pageFile, reportFile] = process.argv.slice(2);
  const page = await readFile(pageFile, "utf8");
  if (reportFile) await writeFile(reportFile, withReport(page, manyRuns()));
  else console.log((await startServer(page, 8765)).url);
}
