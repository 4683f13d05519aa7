import { details, section, type RunContext } from "./section";
import { pairs } from "./table";

export function setupSection(context: RunContext): HTMLElement {
  const { run } = context;
  return section(
    context,
    "Options and environment",
    "What it takes to train this model again.",
    details(`Options (${run.options.length})`, () => pairs("Options in effect", run.options)),
    details(`Environment (${run.environment.length})`, () => pairs("Program and machine", run.environment)),
  );
}
