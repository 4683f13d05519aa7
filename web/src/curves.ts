import { dot, line, plot, pointer, tip } from "@observablehq/plot";
import { color, colorRange, figure, legend } from "./chart";
import { h } from "./dom";
import { count, decimal } from "./format";
import type { Curve, RunReport } from "./model";
import { command, hint, section, type RunContext } from "./section";
import { table } from "./table";

type Point = Curve["points"][number] & { seed: number };

export function curvesSection(context: RunContext): HTMLElement {
  const { run } = context;
  const points = run.curves.flatMap((curve) => curve.points.map((point) => ({ seed: curve.seed, ...point })));
  if (points.length === 0) {
    const resume = command(`hgt train --run ${run.name} --resume`);
    return section(context, "Learning curves", null, hint("Nothing has been validated yet; continue with ", resume));
  }
  const seeds = run.curves.map((curve) => curve.seed);
  const key = legend(
    seeds.map((seed, index) => ({ name: `seed ${seed}`, color: color(index) })),
    "Dashed: training. Solid: validation. Dot: the weights that were kept.",
  );
  const kept = keptPoints(run, points);
  const asTable = (): HTMLElement => pointTable(points);
  return section(
    context,
    "Learning curves",
    null,
    key,
    h(
      "div",
      { class: "columns" },
      figure("Loss by batch", (width) => lossChart(width, seeds, points, kept), asTable),
      figure("Validation NDCG by batch", (width) => ndcgChart(width, seeds, points, kept), asTable),
    ),
  );
}

function keptPoints(run: RunReport, points: Point[]): Point[] {
  const seeds = run.training?.seeds ?? [];
  return points.filter((point) => seeds.some((seed) => seed.seed === point.seed && seed.best_batch === point.batch));
}

function lossChart(width: number, seeds: number[], points: Point[], kept: Point[]): Element {
  const by = { x: "batch", stroke: "seed", z: "seed" } as const;
  return plot({
    ...frame(width, seeds),
    y: { label: "↑ Loss", grid: true, nice: true },
    marks: [
      line(points, { ...by, y: "train_loss", strokeWidth: 1.25, strokeDasharray: "4 3" }),
      line(points, { ...by, y: "validation_loss", strokeWidth: 1.75 }),
      dot(kept, { x: "batch", y: "validation_loss", fill: "seed", r: 4 }),
      tip(points, pointer({ x: "batch", y: "validation_loss", title: lossTitle })),
    ],
  });
}

function ndcgChart(width: number, seeds: number[], points: Point[], kept: Point[]): Element {
  return plot({
    ...frame(width, seeds),
    y: { label: "↑ NDCG", grid: true, nice: true },
    marks: [
      line(points, { x: "batch", y: "ndcg", stroke: "seed", z: "seed", strokeWidth: 1.75 }),
      dot(kept, { x: "batch", y: "ndcg", fill: "seed", r: 4 }),
      tip(
        points,
        pointer({
          x: "batch",
          y: "ndcg",
          title: (point: Point) => `${pointName(point)}\nNDCG ${decimal(point.ndcg)}`,
        }),
      ),
    ],
  });
}

function frame(width: number, seeds: number[]): object {
  return {
    width,
    height: Math.max(220, Math.min(320, width * 0.62)),
    marginLeft: 48,
    marginTop: 28,
    marginBottom: 42,
    x: { label: "Batch", labelAnchor: "center", ticks: Math.max(3, width / 90), tickFormat: count },
    color: { type: "ordinal", domain: seeds, range: colorRange(seeds.length) },
  };
}

function pointName(point: Point): string {
  return `Seed ${point.seed}, batch ${count(point.batch)}`;
}

function lossTitle(point: Point): string {
  return `${pointName(point)}\nValidation ${decimal(point.validation_loss)}\nTraining ${decimal(point.train_loss)}`;
}

function pointTable(points: Point[]): HTMLElement {
  return table(
    "Each validation",
    [
      { head: "Seed", kind: "header", cell: (point) => point.seed },
      { head: "Batch", kind: "number", cell: (point) => count(point.batch) },
      { head: "Training loss", kind: "number", cell: (point) => decimal(point.train_loss) },
      { head: "Validation loss", kind: "number", cell: (point) => decimal(point.validation_loss) },
      { head: "NDCG", kind: "number", cell: (point) => decimal(point.ndcg) },
    ],
    points,
  );
}
