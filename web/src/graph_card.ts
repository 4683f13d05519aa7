import { h } from "./dom";
import { count } from "./format";
import type { Graph } from "./model";
import { section, type RunContext } from "./section";
import { table } from "./table";

export function graphSection(context: RunContext): HTMLElement {
  const { graph } = context.run;
  const largest = Math.max(...graph.nodes.map((type) => type.nodes));
  const widest = Math.max(...graph.relations.map((relation) => relation.edges));
  const span = graph.times
    ? `Times from ${graph.times[0]} to ${graph.times[1]}, in units of one ${graph.time_unit}.`
    : "The graph has no times.";
  const nodes = table(
    "Node types",
    [
      { head: "Type", kind: "header", cell: (type) => [type.type, h("span", { class: "kind" }, traits(type))] },
      { head: "Nodes", cell: (type) => count(type.nodes), bar: (type) => type.nodes / largest },
      { head: "Features", cell: (type) => type.features ?? "none" },
      { head: "Width", kind: "number", cell: (type) => (type.width > 0 ? count(type.width) : "–") },
    ],
    graph.nodes,
  );
  const relations = table(
    "Relations (each also has its reverse)",
    [
      { head: "Relation", kind: "header", cell: (relation) => relation.edge },
      { head: "From", cell: (relation) => relation.source },
      { head: "To", cell: (relation) => relation.target },
      { head: "Edges", cell: (relation) => count(relation.edges), bar: (relation) => relation.edges / widest },
    ],
    graph.relations,
  );
  return section(
    context,
    "Graph",
    [h("span", { class: "code" }, graph.folder), `. ${span}`],
    h("div", { class: "columns" }, nodes, relations),
  );
}

function traits(type: Graph["nodes"][number]): string {
  return [type.event ? "at a time" : "lasting", type.named ? "named" : ""].filter(Boolean).join(", ");
}
