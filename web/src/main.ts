import { askSection } from "./ask";
import { attentionSection } from "./attention";
import { balanceSection } from "./balance";
import { comparisonSection, winners } from "./comparison";
import { confusionSection } from "./confusion";
import { curvesSection } from "./curves";
import { freshId, h } from "./dom";
import { evolutionSection } from "./evolution";
import { date } from "./format";
import { graphSection } from "./graph_card";
import { fact, headline } from "./headline";
import type { Report, RunReport } from "./model";
import { Navigation } from "./navigation";
import { resultsSection } from "./results";
import { loadInto, type RunContext } from "./section";
import { setupSection } from "./setup";
import { openSource, type Api, type Source } from "./source";
import { tabs } from "./tabs";
import { themeButton } from "./theme";
import { timingSection } from "./timing";

function runSections(context: RunContext): HTMLElement[] {
  return [
    resultsSection(context),
    curvesSection(context),
    confusionSection(context),
    attentionSection(context),
    evolutionSection(context),
    graphSection(context),
    balanceSection(context),
    timingSection(context),
    setupSection(context),
  ];
}

function top(report: Report): HTMLElement {
  const brand = h("span", { class: "brand" }, "hgt");
  const kind = report.live ? "live view" : "report";
  const made = h("span", { class: "made" }, `${kind} · version ${report.hgt} · ${date(report.made)}`);
  return h("div", { class: "top" }, brand, made, themeButton());
}

function onePage(report: Report, run: RunReport, api: Api | null): HTMLElement[] {
  const sections = runSections({ run, api, level: 2 });
  if (api) sections.unshift(askSection(run, api));
  const navigation = new Navigation();
  navigation.show(sections);
  return [h("header", {}, top(report), headline(run, 1)), body(navigation, sections)];
}

function manyRuns(report: Report): HTMLElement[] {
  const comparison = comparisonSection(report.runs);
  const navigation = new Navigation();
  const panels = report.runs.map(() => h("div", { id: freshId("run"), class: "run" }));
  const fill = (index: number): void => {
    const [panel, run] = [panels[index]!, report.runs[index]!];
    if (panel.childElementCount > 0) return;
    panel.append(headline(run, 2), ...runSections({ run, api: null, level: 3 }));
  };
  const selected = (index: number): void => {
    fill(index);
    navigation.show([comparison, ...panels[index]!.querySelectorAll<HTMLElement>("section")]);
  };
  const bar = tabs(
    "Runs",
    report.runs.map((run, index) => ({ name: run.name, panel: panels[index]! })),
    selected,
  );
  window.addEventListener("beforeprint", () => panels.forEach((_, index) => fill(index)));
  const title = manyHeadline(report.runs);
  return [h("header", {}, top(report), title), body(navigation, [comparison, bar, ...panels])];
}

function manyHeadline(runs: RunReport[]): HTMLElement {
  const joined = (values: string[]): string => [...new Set(values)].join(", ");
  return h(
    "div",
    { class: "headline" },
    h("h1", {}, `${runs.length} runs`),
    h("p", {}, joined(runs.map((run) => run.name))),
    h(
      "dl",
      { class: "facts" },
      fact("Task", joined(runs.map((run) => run.task.name))),
      fact("Models", joined(runs.map((run) => run.model))),
    ),
    winners(runs).map((sentence) => h("p", {}, h("strong", {}, sentence))),
  );
}

function body(navigation: Navigation, content: HTMLElement[]): HTMLElement {
  const main = h("main", { id: "main", tabindex: -1 }, content);
  return h("div", { class: "body" }, navigation.element, main);
}

function show({ report, api }: Source): HTMLElement[] {
  document.title = `${report.runs.map((run) => run.name).join(", ")} – hgt`;
  const [first] = report.runs;
  if (!first) return [h("main", {}, h("h1", {}, "No runs"), h("p", {}, "This report contains no runs."))];
  return report.runs.length === 1 ? onePage(report, first, api) : manyRuns(report);
}

const app = document.getElementById("app")!;
void loadInto(app, async () => {
  const source = await openSource();
  app.replaceChildren(h("a", { class: "skip", href: "#main", click: skip }, "Skip to the content"), ...show(source));
});

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
