import { h } from "./dom";
import { count, meanAndDeviation, metricName, plural } from "./format";
import { command, hint, section, type RunContext } from "./section";
import { table } from "./table";

export function resultsSection(context: RunContext): HTMLElement {
  const { run } = context;
  const { results } = run;
  const warnings = (results ?? run.training)?.warnings ?? [];
  const hints = warnings.map(({ text }) => hint(h("strong", {}, "Warning: "), text));
  if (!results) {
    return section(context, "Results", null, hint("Not scored yet: ", command(`hgt evaluate ${run.name}`)), hints);
  }
  const about =
    `${count(results.examples)} examples of the ${results.split} split, ` +
    (results.seeds > 1 ? `mean ± standard deviation over ${plural(results.seeds, "seed")}.` : "one seed.");
  return section(
    context,
    "Results",
    about,
    hints,
    h(
      "div",
      { class: "slim" },
      table(
        `Metrics on the ${results.split} split`,
        [
          { head: "Metric", kind: "header", cell: (metric) => metricName(metric.name) },
          {
            head: results.seeds > 1 ? "Mean ± deviation" : "Value",
            cell: (metric) => meanAndDeviation(metric.mean, metric.deviation, results.seeds),
            bar: (metric) => metric.mean,
          },
        ],
        results.metrics,
      ),
    ),
  );
}
