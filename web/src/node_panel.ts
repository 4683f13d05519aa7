import { attentionTrees, paysAttention } from "./attention";
import { h, type Child } from "./dom";
import { change, percent } from "./format";
import type { ClassShare, Found, Neighbor, NodeAnswer, RunReport } from "./model";
import { placeLink } from "./place";
import { hint } from "./section";
import { table, type Column } from "./table";

export function nodeHeading(node: Found): HTMLElement {
  const facts = [node.type, node.name ? node.id : "", node.time].filter(Boolean).join(" · ");
  return h(
    "div",
    { class: "node-heading" },
    h("h3", { tabindex: -1 }, node.name || node.id),
    h("p", { class: "caption" }, facts),
  );
}

export function predictionPart(answer: NodeAnswer): HTMLElement {
  return h("div", {}, h("h4", {}, "Prediction"), prediction(answer));
}

export function neighborPart(answer: NodeAnswer): HTMLElement {
  return h("div", {}, h("h4", {}, "Neighbors that matter"), neighbors(answer));
}

export function attentionPart(run: RunReport, answer: NodeAnswer): HTMLElement {
  const { attention } = answer;
  const content = attention
    ? attentionTrees(attention)
    : hint(
        paysAttention(run)
          ? `Training on ${run.task.name} made no use of what nodes of this type read, so there is no attention to show.`
          : `The model ${run.model} has no attention to show.`,
      );
  return h("div", {}, h("h4", {}, "Attention"), content);
}

function prediction(answer: NodeAnswer): Child {
  if (answer.prediction === null) return hint(`There is none: ${answer.no_prediction}.`);
  const isRight = (row: ClassShare): boolean => answer.truth.includes(row.name) || answer.truth.includes(row.class);
  return [
    table(
      "Most probable classes",
      [
        { head: "Class", kind: "header", cell: (row) => [row.name || row.class, isRight(row) ? rightMark() : null] },
        { head: "Probability", cell: (row) => percent(row.probability), bar: (row) => row.probability },
      ],
      answer.prediction,
    ),
    truthLine(
      answer,
      answer.prediction.filter(isRight).flatMap((row) => [row.name, row.class]),
    ),
  ];
}

function rightMark(): HTMLElement {
  return h("span", { class: "right-mark" }, "✓ right");
}

function truthLine(answer: NodeAnswer, listed: string[]): Child {
  const missing = answer.truth.filter((name) => !listed.includes(name));
  if (missing.length === 0) return null;
  return h("p", { class: "caption" }, `Correct: ${missing.join(", ")} (not among those above).`);
}

function neighbors(answer: NodeAnswer): HTMLElement {
  if (answer.neighbors.length === 0) return hint("There are no neighbors to show.");
  const most = Math.max(...answer.neighbors.map((row) => row.share));
  const columns: Column<Neighbor>[] = [
    { head: "Neighbor", kind: "header", cell: ({ node }) => neighborName(node) },
    { head: "Relation", cell: (row) => row.relations.join(", ") },
    { head: "Attention", cell: (row) => percent(row.share), bar: (row) => row.share / (most || 1) },
  ];
  const best = answer.prediction?.[0];
  if (best) columns.push(...withoutColumns(best));
  const self = answer.self === null ? "" : `; the node itself gets ${percent(answer.self)}`;
  return table(`By share of attention in the last layer${self}`, columns, answer.neighbors);
}

function neighborName(node: Found): Child {
  const facts = [node.type, node.time].filter(Boolean).join(" · ");
  const link = h("a", { href: placeLink({ type: node.type, id: node.id, at: "" }) }, node.name || node.id);
  return [link, h("span", { class: "kind" }, facts)];
}

// What the prediction would be if the neighbor were not there, against the prediction as it is.
function withoutColumns(best: ClassShare): Column<Neighbor>[] {
  const name = best.name || best.class;
  return [
    {
      head: "Without it",
      cell: ({ without }) => {
        const first = without?.[0];
        if (!first) return "–";
        const text = `${first.name || first.class} ${percent(first.probability)}`;
        return first.class === best.class ? text : h("strong", { class: "changed" }, text);
      },
    },
    {
      head: `Change for ${name}, points`,
      kind: "number",
      cell: ({ without }) => {
        const same = without?.find((row) => row.class === best.class);
        return same ? change(same.probability - best.probability) : "–";
      },
    },
  ];
}
