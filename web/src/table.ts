import { h, type Child } from "./dom";
import { scroller } from "./scroller";

export interface Column<Row> {
  head: string;
  cell: (row: Row, index: number) => Child;
  kind?: "number" | "header"; // header: names the row
  bar?: (row: Row) => number; // length of a bar before the number, 0 to 1
}

export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[]): HTMLElement {
  const head = h(
    "tr",
    {},
    columns.map((column) => h("th", { scope: "col", class: classOf(column) }, column.head)),
  );
  const body = rows.map((row, index) =>
    h(
      "tr",
      {},
      columns.map((column) => cell(column, row, index)),
    ),
  );
  return scrollable(caption, h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body)));
}

export function pairs(caption: string, rows: [string, string][]): HTMLElement {
  return table(
    caption,
    [
      { head: "Name", kind: "header", cell: ([name]) => name },
      { head: "Value", cell: ([, value]) => h("span", { class: "code" }, value) },
    ],
    rows,
  );
}

export function scrollable(name: string, content: HTMLElement): HTMLElement {
  return scroller(name, h("div", { class: "scroll" }, content));
}

function cell<Row>(column: Column<Row>, row: Row, index: number): HTMLElement {
  const content = column.cell(row, index);
  if (column.kind === "header") return h("th", { scope: "row" }, content);
  if (!column.bar) return h("td", { class: classOf(column) }, content);
  const length = Math.min(1, Math.max(0, column.bar(row) || 0));
  const track = h(
    "span",
    { class: "track", "aria-hidden": "true" },
    h("span", { style: { width: `${100 * length}%` } }),
  );
  return h("td", { class: "number barred" }, h("div", {}, track, h("span", { class: "value" }, content)));
}

function classOf<Row>(column: Column<Row>): string | undefined {
  if (column.bar) return "number barred";
  return column.kind === "number" ? "number" : undefined;
}
