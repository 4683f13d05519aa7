import { h, type Child } from "./dom";
import { count, decimal, meanAndDeviation, metricName, plural, short } from "./format";
import type { RunReport } from "./model";
import { command, hint } from "./section";

const tiles = 4;

export function headline(run: RunReport, level: 1 | 2): HTMLElement {
  return h("div", { class: "headline" }, h(`h${level}`, { tabindex: -1 }, run.name), facts(run), headlineMetrics(run));
}

function taskInWords(run: RunReport): string {
  const { kind, node, other, classes } = run.task;
  if (kind === "name") return `which ${other} of the same name each ${node} belongs to`;
  if (classes === 0) return `which ${other} each ${node} is linked to`;
  return other
    ? `which ${other} of ${count(classes)} each ${node} belongs to`
    : `which of ${plural(classes, "class")} each ${node} belongs to`;
}

function facts(run: RunReport): HTMLElement {
  const nodes = run.graph.nodes.reduce((sum, type) => sum + type.nodes, 0);
  const edges = run.graph.relations.reduce((sum, relation) => sum + relation.edges, 0);
  return h(
    "dl",
    { class: "facts" },
    fact("Task", h("strong", {}, run.task.name), `: ${taskInWords(run)}`),
    fact("Model", h("strong", {}, run.model), run.training ? `, ${short(run.training.parameters)} parameters` : null),
    fact(
      "Graph",
      `${short(nodes)} nodes, ${short(edges)} edges`,
      run.graph.times ? `, ${run.graph.times.join(" – ")}` : null,
    ),
  );
}

export function fact(name: string, ...value: Child[]): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

function headlineMetrics(run: RunReport): HTMLElement {
  const { results } = run;
  if (!results) return hint("Not scored yet: ", command(`hgt evaluate ${run.name}`));
  const shown = results.metrics.filter((metric) => metric.name !== "ndcg_release").slice(0, tiles);
  return h(
    "ul",
    { class: "tiles", "aria-label": "Headline metrics" },
    shown.map((metric) =>
      h(
        "li",
        { title: meanAndDeviation(metric.mean, metric.deviation, results.seeds) },
        h("span", { class: "tile-name" }, metricName(metric.name)),
        h("span", { class: "tile-value" }, decimal(metric.mean, 3)),
        h("span", { class: "tile-note" }, results.seeds > 1 ? `± ${decimal(metric.deviation, 3)}` : results.split),
      ),
    ),
  );
}
