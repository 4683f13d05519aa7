import { h, type Child } from "./dom";
import { details } from "./section";

const colors = 8;
const firstWidth = 640; // until the width is known, and in print

// Colors are variables of the style sheet, so that charts follow the theme.
export function color(index: number): string {
  return `var(--series-${index % colors})`;
}

export function colorRange(count: number): string[] {
  return Array.from({ length: count }, (_, index) => color(index));
}

// A drawing as wide as its place, with the same data as a table behind it.
export function figure(
  caption: string,
  draw: (width: number) => Element,
  asTable: () => Child,
  legend: Child = null,
): HTMLElement {
  const holder = h("div", { class: "chart" });
  let width = 0;
  const redraw = (wanted: number): void => {
    if (Math.abs(wanted - width) < 2) return;
    width = wanted;
    const drawing = draw(width);
    // Plot names its marks ("line", "dot"); inside an image that only makes noise.
    drawing.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `Chart: ${caption}. The table below it has the numbers.`);
    holder.replaceChildren(drawing);
  };
  redraw(firstWidth);
  new ResizeObserver(([entry]) => {
    if (entry && entry.contentRect.width > 0) redraw(Math.round(entry.contentRect.width));
  }).observe(holder);
  return h("figure", {}, h("figcaption", {}, caption), legend, holder, details("Numbers", asTable));
}

export function legend(entries: { name: string; color: string }[], note: Child = null): HTMLElement {
  const items = entries.map((entry) =>
    h("li", {}, h("span", { class: "swatch", "aria-hidden": "true", style: { background: entry.color } }), entry.name),
  );
  return h("div", { class: "legend" }, h("ul", {}, items), note ? h("p", {}, note) : null);
}
