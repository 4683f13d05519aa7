import { count, decimal, duration, memory, plural } from "./format";
import type { Training } from "./model";
import { section, untrainedOr, type RunContext } from "./section";
import { table } from "./table";

export function timingSection(context: RunContext): HTMLElement {
  const { run } = context;
  if (!run.training) return section(context, "Timing", null, untrainedOr(run));
  return section(context, "Timing", about(run.training), seedTable(run.training));
}

function about(training: Training): string {
  const seconds = training.seeds.reduce((sum, seed) => sum + seed.seconds, 0);
  return (
    `${count(training.parameters)} parameters, ${memory(training.peak_memory_mb)} of memory at the peak, ` +
    `${duration(seconds)} for ${plural(training.seeds.length, "seed")}.`
  );
}

function seedTable(training: Training): HTMLElement {
  const slowest = Math.max(...training.seeds.map((seed) => seed.seconds));
  return table(
    "Training of each seed",
    [
      { head: "Seed", kind: "header", cell: (seed) => seed.seed },
      { head: "Batches", kind: "number", cell: (seed) => count(seed.batches) },
      { head: "Best at batch", kind: "number", cell: (seed) => count(seed.best_batch) },
      { head: "Validation loss", kind: "number", cell: (seed) => decimal(seed.validation_loss) },
      { head: "Per batch", kind: "number", cell: (seed) => duration(seed.seconds_per_batch) },
      { head: "Total", cell: (seed) => duration(seed.seconds), bar: (seed) => seed.seconds / slowest },
    ],
    training.seeds,
  );
}
