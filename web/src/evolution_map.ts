import { color } from "./chart";
import { h, s } from "./dom";
import { clipped, decimal } from "./format";
import type { Evolution, MapStep } from "./model";
import { details } from "./section";
import { table } from "./table";
import { timeSlider } from "./time_slider";

const margin = 40;
const label = { height: 16, letter: 7, longest: 26, offset: 9 };

interface Size {
  width: number;
  height: number;
}

interface Place {
  id: string;
  name: string;
  x: number;
  y: number;
}

interface Mark {
  group: SVGGElement;
  text: SVGTextElement;
}

export function evolutionMap(data: Evolution): HTMLElement {
  const times = data.map.map((step) => step.time);
  let shown = times.length - 1;
  let drawing = drawMap(data, 860);
  const holder = h("div", { class: "chart" }, drawing.element);
  const slider = timeSlider("Time", times, shown, (index) => drawing.show((shown = index)), true);
  drawing.show(shown);
  new ResizeObserver(([entry]) => {
    const width = Math.round(entry?.contentRect.width ?? 0);
    if (width === 0) return;
    drawing = drawMap(data, width);
    drawing.show(shown);
    holder.replaceChildren(drawing.element);
  }).observe(holder);
  const caption = `The ${data.type} nodes in a plane: near means alike. Names that would overlap appear when pointed at.`;
  return h(
    "figure",
    {},
    h("figcaption", {}, caption),
    slider.element,
    holder,
    details("Numbers", () => data.map.map(stepTable)),
  );
}

function drawMap(data: Evolution, width: number): { element: SVGSVGElement; show: (index: number) => void } {
  const size = { width, height: Math.round(Math.max(320, Math.min(540, width * 0.6))) };
  const scale = commonScale(data.map, size);
  const steps = data.map.map((step) =>
    step.points.map((point) => ({ ...scale(point), id: point.id, name: point.name || point.id })),
  );
  const focus = data.focus.map((node) => node.id);
  const marks = drawMarks(steps.flat(), focus);
  const words = `Map of the ${data.type} vectors. The table below it has the places.`;
  const frame = { viewBox: `0 0 ${size.width} ${size.height}`, class: "map", role: "img", "aria-label": words };
  const element = s(
    "svg",
    frame,
    [...marks.values()].map((mark) => mark.group),
  );
  return { element, show: (index) => placeMarks(marks, steps[index] ?? [], focus, size) };
}

// One scale for all times, so that only the nodes move when the slider does.
function commonScale(map: MapStep[], size: Size): (point: { x: number; y: number }) => { x: number; y: number } {
  const points = map.flatMap((step) => step.points);
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(...xs) - left || 1, Math.max(...ys) - bottom || 1];
  const factor = Math.min((size.width - 2 * margin) / wide, (size.height - 2 * margin) / high);
  return ({ x, y }) => ({
    x: size.width / 2 + (x - left - wide / 2) * factor,
    y: size.height / 2 - (y - bottom - high / 2) * factor,
  });
}

function drawMarks(places: Place[], focus: string[]): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { id, name, x, y } of places) {
    if (marks.has(id)) continue;
    const index = focus.indexOf(id);
    const text = s("text", { x: label.offset, y: 4 }, clipped(name, label.longest));
    const dot = s("circle", { r: index >= 0 ? 6 : 4.5, fill: index >= 0 ? color(index) : undefined });
    const group = s("g", { class: index >= 0 ? "focus" : undefined }, s("title", {}, name), dot, text);
    group.style.transform = `translate(${x}px, ${y}px)`; // new nodes appear in place, not from the corner
    marks.set(id, { group, text });
  }
  return marks;
}

function placeMarks(marks: Map<string, Mark>, places: Place[], focus: string[], size: Size): void {
  const byId = new Map(places.map((place) => [place.id, place]));
  const labeled = placesWithLabel(places, focus, size);
  for (const [id, { group, text }] of marks) {
    const place = byId.get(id);
    group.classList.toggle("absent", !place);
    group.classList.toggle("unlabeled", !labeled.has(id));
    if (!place) continue;
    group.style.transform = `translate(${place.x}px, ${place.y}px)`;
    const flip = place.x + labelLength(place) > size.width;
    text.setAttribute("text-anchor", flip ? "end" : "start");
    text.setAttribute("x", String(flip ? -label.offset : label.offset));
  }
}

// First come, first labeled; the focus nodes come first, and only their names may cover another node's dot.
function placesWithLabel(places: Place[], focus: string[], size: Size): Set<string> {
  const taken: { left: number; right: number; y: number }[] = [];
  const labeled = new Set<string>();
  const ranked = [...places].sort((a, b) => Number(focus.includes(b.id)) - Number(focus.includes(a.id)));
  for (const place of ranked) {
    const length = labelLength(place);
    const left = place.x + length > size.width ? place.x - length : place.x - label.offset;
    const box = { left, right: left + length + label.offset, y: place.y };
    const clash = taken.some(
      (other) => Math.abs(other.y - box.y) < label.height && other.left < box.right && box.left < other.right,
    );
    const covers = places.some(
      (other) => other !== place && Math.abs(other.y - box.y) < 7 && left < other.x && other.x < box.right,
    );
    if (clash || (covers && !focus.includes(place.id))) continue;
    taken.push(box);
    labeled.add(place.id);
  }
  return labeled;
}

function labelLength(place: Place): number {
  return label.offset + label.letter * Math.min(label.longest, place.name.length);
}

function stepTable(step: MapStep): HTMLElement {
  return table(
    step.time,
    [
      { head: "Node", kind: "header", cell: (point) => point.name || point.id },
      { head: "x", kind: "number", cell: (point) => decimal(point.x, 3) },
      { head: "y", kind: "number", cell: (point) => decimal(point.y, 3) },
    ],
    step.points,
  );
}
