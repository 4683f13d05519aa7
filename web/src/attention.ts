import { h, type Child } from "./dom";
import { decimal, percent, plural } from "./format";
import type { Attention, AttentionTree, Branch, RunReport } from "./model";
import { details, hint, panel, section, untrainedOr, type RunContext } from "./section";
import { scroller } from "./scroller";

export function attentionSection(context: RunContext): HTMLElement {
  const { run } = context;
  return section(
    context,
    "Attention tree",
    `Where the model looks when it is asked about one ${run.task.node}, layer by layer.`,
    panel(
      context,
      "attention",
      (data) => attentionTrees(data),
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

export function attentionTrees(data: Attention): Child {
  return [attentionTree(data.shares), attentionTree(data.means)];
}

const headings = {
  shares: "Shares of the attention that reaches it",
  means: "Mean attention of an edge of each relation",
};

function attentionTree(data: AttentionTree): Child {
  const drawing = safeDrawing(data.svg);
  if (drawing) {
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `${headings[data.form]}: ${data.target}. The list below it has the numbers.`);
  }
  const over = data.examples > 1 ? `, ${plural(data.examples, "example")}` : "";
  const layers = Array.from({ length: data.layers }, (_, step) => data.from_layer - step).join(" and ");
  const list = details("The tree as a list", () => branches(data.form, data));
  list.open = drawing === null;
  return [
    h("p", { class: "caption" }, `${headings[data.form]}: ${data.target}, ${data.layers === 1 ? "layer" : "layers"} ${layers}${over}`),
    drawing
      ? scroller(`${headings[data.form]}: ${data.target}`, h("div", { class: "drawing" }, drawing))
      : hint("The drawing was left out because it is not a plain SVG."),
    list,
  ];
}

type Form = AttentionTree["form"];

function branches(form: Form, { children, others }: Pick<Branch, "children" | "others">): HTMLElement {
  return h(
    "ul",
    { class: "tree" },
    children.map((branch) =>
      h(
        "li",
        {},
        branchLine(form, [h("strong", {}, branch.type), ` by ${branch.relation} `], branch.attention),
        branch.children.length > 0 ? branches(form, branch) : null,
      ),
    ),
    others ? h("li", {}, branchLine(form, form === "shares" ? "others " : "others, at most ", others)) : null,
  );
}

function branchLine(form: Form, name: Child, attention: number): HTMLElement {
  const text = form === "shares" ? percent(attention) : decimal(attention);
  const number = h("span", { class: "share", style: { "--share": `${100 * attention}%` } }, text);
  return h("span", { class: "branch" }, name, number);
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
