import { dot, line, plot, pointer, text, tip } from "@observablehq/plot";
import { color, colorRange, figure } from "./chart";
import { h, type Child } from "./dom";
import { evolutionMap } from "./evolution_map";
import { clipped, decimal } from "./format";
import type { Evolution, Focus } from "./model";
import { hint, panel, section, subheading, untrainedOr, type RunContext } from "./section";
import { table } from "./table";

const labelHeight = 14;

interface Point {
  id: string;
  name: string;
  time: string;
  similarity: number;
}

export function evolutionSection(context: RunContext): HTMLElement {
  const { run } = context;
  const readsNeighbors = run.model !== "mlp" && run.model !== "majority";
  return section(
    context,
    "Evolution",
    "How the vectors of the same nodes move over time: which come closer, which drift apart.",
    panel(
      context,
      "evolution",
      (data) => evolution(context, data),
      () =>
        run.graph.steps.length === 0
          ? hint(
              "The graph has no times, so nothing can evolve; give its events a time in the manifest and import again.",
            )
          : readsNeighbors
            ? untrainedOr(run, "No vectors over time were computed; make the report again where the graph is available.")
            : hint(`The model ${run.model} does not read neighbors, so its vectors are the same at all times.`),
    ),
  );
}

function evolution(context: RunContext, data: Evolution): Child {
  const range = similarityRange(data);
  return [
    h("p", { class: "caption" }, `Compared: ${data.among}. Vectors of layer ${data.layer}.`),
    subheading(context, "Similarity over time"),
    data.focus.length === 0 ? hint("No node was chosen.") : null,
    h(
      "div",
      { class: "columns" },
      data.focus.map((focus) => focusChart(data.times, focus, range)),
    ),
    data.map.length > 0 ? [subheading(context, "Map"), evolutionMap(data)] : null,
  ];
}

function similarityRange(data: Evolution): [number, number] {
  const all = data.focus
    .flatMap((focus) => focus.lines.flatMap((line) => line.similarity))
    .filter((value) => value !== null);
  return all.length === 0 ? [0, 1] : [Math.min(...all), Math.max(...all)];
}

function focusChart(times: string[], focus: Focus, range: [number, number]): HTMLElement {
  const points = focus.lines.flatMap(({ name, id, similarity }) =>
    times.map((time, index) => ({ id, name: name || id, time, similarity: similarity[index] ?? NaN })),
  );
  const name = focus.name || focus.id;
  const draw = (width: number): Element => similarityChart(width, times, points, range);
  return figure(`Similarity to ${name}`, draw, () => similarityTable(name, times, focus));
}

// Colors are those of this chart alone: over all charts there are more nodes than colors.
function similarityChart(width: number, times: string[], points: Point[], range: [number, number]): Element {
  const ids = [...new Set(points.map((point) => point.id))];
  const labelWidth = Math.min(160, width * 0.34);
  const last = points.filter((point) => point.time === times.at(-1));
  const height = Math.max(260, 80 + labelHeight * last.length);
  return plot({
    width,
    height,
    marginTop: 28,
    marginBottom: 34,
    marginLeft: 44,
    marginRight: labelWidth,
    x: { type: "point", domain: times, label: null, padding: 0.1, ticks: everyFew(times, (width - labelWidth) / 60) },
    y: { label: "↑ Similarity", domain: range, grid: true, nice: true },
    color: { type: "ordinal", domain: ids, range: colorRange(ids.length) },
    marks: [
      line(points, { x: "time", y: "similarity", stroke: "id", z: "id", strokeWidth: 2 }),
      dot(points, { x: "time", y: "similarity", fill: "id", r: 3 }), // a single time makes no line
      spread(last, range, height - 62).map(({ point, y }) =>
        text([point], {
          x: "time",
          y: () => y,
          text: () => clipped(point.name, Math.floor(labelWidth / 7) - 1),
          title: "name",
          fill: color(ids.indexOf(point.id)),
          textAnchor: "start",
          dx: 8,
          fontWeight: 500,
        }),
      ),
      tip(points, pointer({ x: "time", y: "similarity", title: pointTitle })),
    ],
  });
}

function pointTitle(point: Point): string {
  return `${point.name}\n${point.time}: ${decimal(point.similarity, 3)}`;
}

// Places of the labels at the lines' ends such that none covers another: from below upwards, then back from the top.
function spread(points: Point[], [low, high]: [number, number], height: number): { point: Point; y: number }[] {
  const gap = ((high - low || 1) * labelHeight) / height;
  const places = points
    .filter((point) => Number.isFinite(point.similarity))
    .map((point) => ({ point, y: point.similarity }))
    .sort((a, b) => a.y - b.y);
  places.forEach((place, index) => {
    const below = places[index - 1];
    if (below) place.y = Math.max(place.y, below.y + gap);
  });
  for (let index = places.length - 1; index >= 0; --index) {
    places[index]!.y = Math.min(places[index]!.y, index + 1 < places.length ? places[index + 1]!.y - gap : high);
  }
  return places;
}

function everyFew(times: string[], room: number): string[] {
  const step = Math.max(1, Math.ceil(times.length / Math.max(2, room)));
  return times.filter((_, index) => index % step === 0);
}

function similarityTable(name: string, times: string[], focus: Focus): HTMLElement {
  return table(
    `Similarity to ${name}`,
    [
      { head: "Node", kind: "header", cell: (line) => line.name || line.id },
      ...times.map((time, index) => ({
        head: time,
        kind: "number" as const,
        cell: (line: Focus["lines"][number]) => decimal(line.similarity[index] ?? NaN, 3),
      })),
    ],
    focus.lines,
  );
}
