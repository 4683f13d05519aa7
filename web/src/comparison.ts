import { plot, dot, ruleY, text } from "@observablehq/plot";
import { color, figure } from "./chart";
import { h, type Child } from "./dom";
import { clipped, count, decimal, meanAndDeviation, metricName, plural } from "./format";
import type { Metric, RunReport } from "./model";
import { command, hint, section } from "./section";
import { table, type Column } from "./table";

const context = { level: 2 } as const;
const digits = 3;

export function comparisonSection(runs: RunReport[]): HTMLElement {
  const unscored = runs.filter((run) => !run.results);
  return section(
    context,
    "Comparison",
    "Mean ± standard deviation over the seeds of each run; the best mean of each metric is bold.",
    [...comparable(runs)].map(([title, members]) => comparisonGroup(title, members)),
    unscored.map((run) => hint(`${run.name} has not been scored yet: `, command(`hgt evaluate ${run.name}`))),
  );
}

// The winner by the first metric, for each set of comparable runs.
export function winners(runs: RunReport[]): string[] {
  return [...comparable(runs).values()].flatMap((members) => {
    const scored = members.flatMap((run) =>
      run.results!.metrics[0] ? [{ run, metric: run.results!.metrics[0] }] : [],
    );
    if (scored.length === 0) return [];
    const { run, metric } = scored.reduce((best, next) => (next.metric.mean > best.metric.mean ? next : best));
    const value = meanAndDeviation(metric.mean, metric.deviation, run.results!.seeds, digits);
    return [`Best ${metricName(metric.name)} for ${run.task.name}: ${value}, ${run.name} (${run.model})`];
  });
}

// Runs are comparable if they were scored for the same task on the same examples.
function comparable(runs: RunReport[]): Map<string, RunReport[]> {
  const groups = new Map<string, RunReport[]>();
  for (const run of runs) {
    if (!run.results) continue;
    const { split, examples } = run.results;
    const title = `${run.task.name}, ${plural(examples, "example")} of the ${split} split`;
    groups.set(title, [...(groups.get(title) ?? []), run]);
  }
  return groups;
}

function comparisonGroup(title: string, runs: RunReport[]): Child {
  const names = [...new Set(runs.flatMap((run) => run.results!.metrics.map((metric) => metric.name)))];
  const best = new Map(
    names.map((name) => [name, Math.max(...runs.map((run) => metricOf(run, name)?.mean ?? -Infinity))]),
  );
  const columns: Column<RunReport>[] = [
    { head: "Run", kind: "header", cell: (run) => run.name },
    { head: "Model", cell: (run) => run.model },
    { head: "Seeds", kind: "number", cell: (run) => count(run.results!.seeds) },
    ...names.map((name): Column<RunReport> => ({
      head: metricName(name),
      kind: "number",
      cell: (run) => metricCell(run, metricOf(run, name), best.get(name)!),
    })),
  ];
  const first = names[0];
  return [table(title, columns, runs), first && runs.length > 1 ? metricChart(title, first, runs) : null];
}

function metricOf(run: RunReport, name: string): Metric | undefined {
  return run.results?.metrics.find((metric) => metric.name === name);
}

function metricCell(run: RunReport, metric: Metric | undefined, best: number): Child {
  if (!metric) return "–";
  const value = decimal(metric.mean, digits);
  const spread = run.results!.seeds > 1 ? h("span", { class: "kind" }, `± ${decimal(metric.deviation, digits)}`) : null;
  return [metric.mean === best ? h("strong", {}, value) : value, " ", spread];
}

function metricChart(title: string, name: string, runs: RunReport[]): HTMLElement {
  const rows = runs.flatMap((run) => {
    const metric = metricOf(run, name);
    return metric ? [{ run: run.name, model: run.model, ...metric }] : [];
  });
  const label = metricName(name);
  const draw = (width: number): Element => {
    const room = Math.min(220, Math.round(width * 0.35));
    return plot({
      width,
      height: 62 + 30 * rows.length,
      marginBottom: 42,
      marginLeft: room,
      marginRight: 60,
      x: { label, labelAnchor: "center", ticks: Math.max(3, width / 120), nice: true, grid: true },
      y: {
        label: null,
        domain: rows.map((row) => row.run),
        tickFormat: (run: string) => clipped(run, Math.floor(room / 7.5) - 1),
      },
      marks: [
        ruleY(rows, {
          y: "run",
          x1: (row) => row.mean - row.deviation,
          x2: (row) => row.mean + row.deviation,
          stroke: color(0),
          strokeWidth: 2,
        }),
        dot(rows, { y: "run", x: "mean", r: 5, fill: color(0) }),
        text(rows, {
          y: "run",
          x: (row) => row.mean + row.deviation,
          text: "model",
          textAnchor: "start",
          dx: 10,
          fill: "currentColor",
        }),
      ],
    });
  };
  return figure(`${label} of each run, with its deviation over seeds`, draw, () =>
    table(
      `${label}, ${title}`,
      [
        { head: "Run", kind: "header", cell: (row) => row.run },
        { head: "Mean", kind: "number", cell: (row) => decimal(row.mean) },
        { head: "Deviation", kind: "number", cell: (row) => decimal(row.deviation) },
      ],
      rows,
    ),
  );
}
