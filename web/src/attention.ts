import { h, type Child } from "./dom";
import { percent, plural } from "./format";
import type { Attention, Branch, RunReport } from "./model";
import { details, hint, panel, section, untrainedOr, type RunContext } from "./section";
import { scroller } from "./scroller";

export function attentionSection(context: RunContext): HTMLElement {
  const { run } = context;
  return section(
    context,
    "Attention tree",
    `Where the model looks when it is asked about one ${run.task.node}: shares of all attention, layer by layer.`,
    panel(
      context,
      "attention",
      (data) => attentionTree(data),
      () =>
        paysAttention(run)
          ? untrainedOr(run, "No attention was computed; make the report again where the graph is available.")
          : hint(`The model ${run.model} has no attention to show; hgt and gat have.`),
    ),
  );
}

export function paysAttention(run: RunReport): boolean {
  return run.model === "hgt" || run.model === "gat";
}

export function attentionTree(data: Attention): Child {
  const drawing = safeDrawing(data.svg);
  if (drawing) {
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `Attention tree of ${data.target}. The list below it has the shares.`);
  }
  const over = data.examples > 1 ? `, mean of ${plural(data.examples, "example")}` : "";
  const list = details("The tree as a list", () => branches(data.children, data.others));
  list.open = drawing === null;
  return [
    h("p", { class: "caption" }, `${data.target}, ${plural(data.layers, "layer")}${over}`),
    drawing
      ? scroller(`Attention tree of ${data.target}`, h("div", { class: "drawing" }, drawing))
      : hint("The drawing was left out because it is not a plain SVG."),
    list,
  ];
}

function branches(children: Branch[], others?: number): HTMLElement {
  return h(
    "ul",
    { class: "tree" },
    children.map((branch) =>
      h(
        "li",
        {},
        h("span", { class: "branch" }, h("strong", {}, branch.type), ` by ${branch.relation} `, share(branch.share)),
        branch.children.length > 0 ? branches(branch.children, branch.others) : null,
      ),
    ),
    others ? h("li", {}, h("span", { class: "branch" }, "others ", share(others))) : null,
  );
}

function share(value: number): HTMLElement {
  return h("span", { class: "share", style: { "--share": `${100 * value}%` } }, percent(value));
}

// Names in the drawing come from the user's data: whatever could act is refused.
function safeDrawing(svg: string): SVGSVGElement | null {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.localName !== "svg" || parsed.querySelector("parsererror, script, foreignObject, a")) return null;
  if ([root, ...root.querySelectorAll("*")].some(acts)) return null;
  const drawing = document.importNode(root, true) as unknown as SVGSVGElement;
  makeScalable(drawing);
  return drawing;
}

function acts(element: Element): boolean {
  return [...element.attributes].some(
    ({ localName, value }) => localName.startsWith("on") || (localName === "href" && !value.startsWith("#")),
  );
}

function makeScalable(drawing: SVGSVGElement): void {
  const width = parseFloat(drawing.getAttribute("width") ?? "");
  const height = parseFloat(drawing.getAttribute("height") ?? "");
  if (!drawing.hasAttribute("viewBox") && width > 0 && height > 0)
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
}
