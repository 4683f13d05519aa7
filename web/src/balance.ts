import { h } from "./dom";
import { mean, plural } from "./format";
import type { Balance } from "./model";
import { hint, panel, section, type RunContext } from "./section";
import { table } from "./table";

export function balanceSection(context: RunContext): HTMLElement {
  return section(
    context,
    "Batch balance",
    "What the sampler puts into a batch: rare types should not be crowded out by frequent ones.",
    panel(context, "balance", balance, () =>
      hint("No batches were sampled for this report; make it again where the graph is available."),
    ),
  );
}

function balance(data: Balance): HTMLElement {
  const most = Math.max(...data.nodes.map((type) => type.mean));
  const densest = Math.max(...data.edges.map((edge) => edge.mean));
  return h(
    "div",
    { class: "columns" },
    table(
      `Mean nodes of a type, ${plural(data.batches, "batch")}`,
      [
        { head: "Type", kind: "header", cell: (row) => row.type },
        { head: "Nodes", cell: (row) => mean(row.mean), bar: (row) => row.mean / most },
      ],
      data.nodes,
    ),
    table(
      `Mean edges of a relation, ${plural(data.batches, "batch")}`,
      [
        { head: "Relation", kind: "header", cell: (row) => row.relation },
        { head: "Edges", cell: (row) => mean(row.mean), bar: (row) => row.mean / densest },
      ],
      data.edges,
    ),
  );
}
