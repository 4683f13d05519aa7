// A made-up report: several seeds and runs, long names, names that look like HTML, empty sections.
export const hostileName = '<b>"x"&</b><img src=x onerror=alert(1)>';
export const longName =
  "Proceedings of the International Joint Conference on Very Long Names of Conferences and Workshops";
const slot = '<script id="report" type="application/json">null</script>';
export const steps = Array.from({ length: 15 }, (_, index) => String(2004 + index));
export const venues = [
  "WWW",
  "KDD",
  "SIGIR",
  "NeurIPS",
  "ICML",
  "ACL",
  "VLDB",
  "CHI",
  longName,
  hostileName,
  "Zeitschrift für Ökologie",
  "情報処理学会論文誌",
];

// A fixed sequence, so that screenshots can be compared.
export function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const graph = {
  folder: "/data/graphs/ai-venues.graph",
  time_unit: "year",
  times: ["1998", "2018"],
  steps,
  nodes: [
    { type: "paper", nodes: 812345, event: true, named: true, features: "titles (fastText)", width: 300 },
    { type: "author", nodes: 431200, event: false, named: true, features: "mean of papers", width: 300 },
    { type: "field", nodes: 28977, event: false, named: true, features: "metapath2vec", width: 128 },
    { type: "institute", nodes: 9120, event: false, named: true, features: null, width: 0 },
    { type: "venue", nodes: 214, event: false, named: true, features: null, width: 0 },
  ],
  relations: [
    { source: "author", edge: "writes_first", target: "paper", edges: 790122 },
    { source: "author", edge: "writes_other", target: "paper", edges: 1490221 },
    { source: "paper", edge: "cites", target: "paper", edges: 3120987 },
    { source: "paper", edge: "in_L1", target: "field", edges: 1211800 },
    { source: "paper", edge: "pub_conference", target: "venue", edges: 602300 },
    { source: "author", edge: "in", target: "institute", edges: 240112 },
  ],
};

function curves(seeds, level) {
  return seeds.map((seed) => {
    const random = generator(seed * 77);
    const points = Array.from({ length: 40 }, (_, index) => {
      const t = index / 39;
      return {
        batch: 250 * (index + 1),
        train_loss: 1.1 + 2.6 * Math.exp(-4 * t) + 0.09 * random(),
        validation_loss: 1.45 + 2.3 * Math.exp(-4.2 * t) + 0.35 * Math.max(0, t - 0.7) + 0.07 * random(),
        ndcg: index === 3 ? null : level * (1 - 0.6 * Math.exp(-4 * t)) + 0.012 * random(),
      };
    });
    return { seed, points };
  });
}

function training(runCurves) {
  return {
    parameters: 1284312,
    peak_memory_mb: 2874,
    seeds: runCurves.map(({ seed, points }) => {
      const best = points.reduce((low, point) => (point.validation_loss < low.validation_loss ? point : low));
      const seconds = 1830 + 37 * seed;
      return {
        seed,
        batches: 10000,
        best_batch: best.batch,
        validation_loss: best.validation_loss,
        seconds,
        seconds_per_batch: seconds / 10000,
        stopped_early: false,
      };
    }),
    warnings: [],
  };
}

function results(seeds, level) {
  const names = ["ndcg", "ndcg_release", "mrr", "accuracy", "hits@5", "micro_f1", "macro_f1"];
  const metrics = names.map((name, index) => ({ name, mean: level - 0.03 * index, deviation: 0.004 + 0.001 * index }));
  return { split: "test", examples: 48211, seeds, metrics, warnings: [] };
}

function confusion() {
  const random = generator(5);
  const classes = [...venues.slice(0, 10), "others"];
  const counts = classes.map((_, row) =>
    classes.map((__, column) =>
      row === column ? 300 + Math.floor(900 * random()) : random() < 0.25 ? 0 : Math.floor(140 * random() ** 2),
    ),
  );
  return { split: "test", examples: counts.flat().reduce((sum, value) => sum + value, 0), classes, counts };
}

function escaped(text) {
  return text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function drawing(target, children) {
  const rows = children.flatMap((branch) => [[0, branch], ...branch.children.map((child) => [1, child])]);
  const lines = rows.map(([depth, branch], index) => {
    const [x, y] = [170 + 260 * depth, 30 + 34 * index];
    return (
      `<path d="M${x - 60} ${y}H${x}" stroke="#2a58c7" stroke-width="${1 + 12 * branch.attention}"/>` +
      `<rect x="${x}" y="${y - 12}" width="190" height="24" rx="4" fill="#eef2fb"/>` +
      `<text x="${x + 8}" y="${y + 4}">${escaped(branch.type)} ${branch.attention.toFixed(3)} ${escaped(branch.relation)}</text>`
    );
  });
  const height = 34 * rows.length + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 ${height}" width="640" height="${height}" font-family="sans-serif" font-size="12"><text x="8" y="34">${escaped(target)}</text>${lines.join("")}</svg>`;
}

export function attention(target, examples) {
  const branch = (relation, type, attention, children = []) => ({ relation, type, attention, children });
  const tree = (form, from_layer, children, others) => ({
    form,
    target,
    layers: 2,
    from_layer,
    examples,
    svg: drawing(target, children),
    children,
    others,
  });
  const children = [
    branch("rev_writes_first", "author", 0.46, [branch("writes_first", "paper", 0.31), branch("in", "institute", 0.1)]),
    branch("cites", "paper", 0.33, [branch("rev_in_L1", "field", 0.2), branch("pub_conference", "venue", 0.13)]),
    branch("rev_in_L1", "field", 0.14, [branch("in_L1", "paper", 0.14)]),
  ];
  children[0].others = 0.05;
  const means = [
    branch("self", "paper", 0.6213, [branch("self", "paper", 0.5)]),
    branch("rev_writes_first", "author", 0.5871, [branch("self", "author", 0.43), branch("in", "institute", 0.2)]),
  ];
  return { shares: tree("shares", 3, children, 0.07), means: tree("means", 2, means, 0.0519) };
}

function evolution() {
  const random = generator(11);
  const focus = [0, 1].map((at) => ({
    id: `V${at}`,
    name: venues[at],
    lines: venues
      .filter((_, index) => index !== at)
      .slice(0, 7)
      .map((name, index) => {
        const [start, drift] = [0.3 + 0.05 * index, (random() - 0.4) * 0.03];
        return {
          id: `V${venues.indexOf(name)}`,
          name,
          // One appears late, and one is there at a single time.
          similarity: steps.map((_, step) => {
            const absent = index === 1 ? step < 6 : index === 2 && step !== steps.length - 1;
            return absent ? null : start + drift * step + 0.02 * random();
          }),
        };
      }),
  }));
  const paths = Array.from({ length: 36 }, (_, index) => ({
    id: `V${index}`,
    name: venues[index] ?? `Workshop ${index}`,
    start: [random() * 8, random() * 4],
    way: [(random() - 0.5) * 0.25, (random() - 0.5) * 0.2],
  }));
  const map = steps.map((time, step) => ({
    time,
    points: paths
      .filter((_, index) => index < 30 || step > 7)
      .map(({ id, name, start, way }) => ({ id, name, x: start[0] + way[0] * step, y: start[1] + way[1] * step })),
  }));
  return { type: "venue", layer: 2, among: "the 36 venues with most papers", times: steps, focus, map };
}

const balance = {
  batches: 64,
  nodes: graph.nodes.map(({ type }, index) => ({ type, mean: [412.4, 398.1, 377.9, 120.25, 96.5][index] })),
  edges: graph.relations.map(({ source, edge, target }, index) => ({
    relation: `${source} ${edge} ${target}`,
    mean: 220.5 + 311 * index,
  })),
};

function trainedRun(name, model, level, seeds) {
  const runCurves = curves(seeds, level);
  return {
    name,
    model,
    task: { name: "paper-venue", node: "paper", other: "venue", kind: "edge", classes: 214 },
    graph,
    options: [
      ["hidden", "256"],
      ["heads", "8"],
      ["layers", "3"],
      ["learning-rate", "0.001"],
      ["also-hide", hostileName],
    ],
    environment: [
      ["hgt", "0.8.0"],
      ["libtorch", "2.1.0"],
      ["threads", "8"],
      ["processor", "AMD EPYC 7B13"],
    ],
    training: training(runCurves),
    curves: runCurves,
    results: results(seeds.length, level),
    confusion: confusion(),
    attention: model === "hgt" ? attention("paper", 2048) : null,
    evolution: evolution(),
    balance,
  };
}

const nothing = {
  training: null,
  curves: [],
  results: null,
  confusion: null,
  attention: null,
  evolution: null,
  balance: null,
};

export function manyRuns() {
  const hgt = trainedRun("venue-hgt.run", "hgt", 0.468, [1, 2, 3, 4, 5]);
  const gcn = trainedRun(`venue-gcn ${hostileName}`, "gcn", 0.361, [1, 2, 3]);
  const unfinished = { ...trainedRun("unfinished.run", "hgt", 0.4, [1]), ...nothing };
  return { hgt: "0.8.0", made: "2026-03-02T14:05:09Z", live: false, runs: [hgt, gcn, unfinished] };
}

export function oneRun() {
  return { ...manyRuns(), runs: manyRuns().runs.slice(0, 1) };
}

export function withReport(page, report) {
  return page.replace(slot, () => slot.replace("null", () => JSON.stringify(report).replaceAll("<", "\\u003c")));
}
