import { h } from "./dom";
import { count, percent } from "./format";
import type { Confusion } from "./model";
import { command, hint, panel, section, untrainedOr, type RunContext } from "./section";
import { scrollable } from "./table";

export function confusionSection(context: RunContext): HTMLElement {
  const { run } = context;
  return section(
    context,
    "Confusion",
    "Rows are the truth, columns the prediction; the shade is the share of the row. Blue is correct, red is wrong.",
    panel(context, "confusion", matrix, () =>
      run.task.classes === 0
        ? hint("There is no confusion matrix: this task has candidates, not fixed classes.")
        : untrainedOr(
            run,
            "No predictions to count yet: ",
            command(`hgt evaluate ${run.name}`),
            ", then make the report again.",
          ),
    ),
  );
}

function matrix(data: Confusion): HTMLElement {
  const head = h(
    "tr",
    {},
    h("th", { scope: "col", class: "corner" }, "Truth"),
    data.classes.map((name) => h("th", { scope: "col", class: "upright", title: name }, h("span", {}, name))),
    h("th", { scope: "col", class: "number" }, "Right"),
    h("th", { scope: "col", class: "number" }, "Examples"),
  );
  const caption = `${count(data.examples)} examples of the ${data.split} split`;
  const body = data.counts.map((row, index) => matrixRow(data.classes, row, index));
  return scrollable(
    caption,
    h("table", { class: "matrix" }, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body)),
  );
}

function matrixRow(classes: string[], row: number[], index: number): HTMLElement {
  const sum = row.reduce((total, value) => total + value, 0);
  const name = classes[index] ?? "";
  return h(
    "tr",
    {},
    h("th", { scope: "row", title: name }, h("span", {}, name)),
    row.map((value, column) => {
      const share = sum > 0 ? value / sum : 0;
      const title = `${name} taken for ${classes[column] ?? ""}: ${count(value)} of ${count(sum)}`;
      const kind = `${column === index ? "right" : "wrong"}${value === 0 ? " none" : ""}`;
      return h("td", { class: `number ${kind}`, title, style: { "--share": `${100 * share}%` } }, count(value));
    }),
    h("td", { class: "number" }, percent(sum > 0 ? (row[index] ?? 0) / sum : NaN, 0)),
    h("td", { class: "number" }, count(sum)),
  );
}
