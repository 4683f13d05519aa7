import { freshId, h, type Child } from "./dom";
import type { RunReport } from "./model";
import { scroller } from "./scroller";
import type { Api, Panels } from "./source";

// What the sections of a run need to know.
export interface RunContext {
  run: RunReport;
  api: Api | null;
  level: 2 | 3; // of the sections' headings
}

export function section(context: { level: 2 | 3 }, title: string, about: Child, ...content: Child[]): HTMLElement {
  const id = freshId("section");
  const heading = h(`h${context.level}`, { id, tabindex: -1 }, title);
  return h(
    "section",
    { class: "card", "aria-labelledby": id },
    heading,
    about ? h("p", { class: "about" }, about) : null,
    content,
  );
}

export function subheading(context: { level: 2 | 3 }, title: string): HTMLElement {
  return h(context.level === 2 ? "h3" : "h4", {}, title);
}

export function hint(...content: Child[]): HTMLElement {
  return h("p", { class: "hint" }, content);
}

// Why something that needs trained weights is missing.
export function untrainedOr(run: RunReport, ...otherwise: Child[]): HTMLElement {
  if (run.training) return hint(otherwise);
  return hint("Training has not finished yet: ", command(`hgt train --run ${run.name} --resume`));
}

export function command(text: string): HTMLElement {
  return h("code", {}, text);
}

export function details(summary: string, content: () => Child): HTMLDetailsElement {
  const element = h("details", {}, h("summary", {}, summary));
  const fill = (): void => {
    element.removeEventListener("toggle", fill);
    element.append(scroller(summary, h("div", { class: "unfolded" }, content())));
  };
  element.addEventListener("toggle", fill);
  return element;
}

// A part of the run: there already, to be fetched when it comes into view, or missing.
export function panel<Name extends keyof Panels>(
  context: RunContext,
  name: Name,
  show: (data: Panels[Name]) => Child,
  whenMissing: () => Child,
): HTMLElement {
  const { run, api } = context;
  const holder = h("div", { class: "panel" });
  const fill = (data: Panels[Name] | null): void => {
    holder.replaceChildren(h("div", {}, data === null ? whenMissing() : show(data)));
  };
  const given = run[name] as Panels[Name] | null;
  if (given !== null || api === null) fill(given);
  else onceVisible(holder, () => void loadInto(holder, () => api.panel(name).then(fill)));
  return holder;
}

// Shows that something is being computed; `load` fills the holder, and its failure is shown with a way to try again.
export async function loadInto(holder: HTMLElement, load: () => Promise<void>): Promise<void> {
  holder.setAttribute("aria-busy", "true");
  holder.replaceChildren(
    h("p", { class: "loading", role: "status" }, "Computing … the first time takes a few seconds."),
  );
  try {
    await load();
  } catch (error) {
    holder.replaceChildren(failure(error, () => void loadInto(holder, load)));
  } finally {
    holder.removeAttribute("aria-busy");
  }
}

export function failure(error: unknown, retry?: () => void): HTMLElement {
  const sentence = error instanceof Error ? error.message : String(error);
  const again = retry ? h("button", { type: "button", click: retry }, "Try again") : null;
  return h("div", { class: "failure", role: "alert" }, h("p", {}, sentence), again);
}

function onceVisible(element: HTMLElement, action: () => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      action();
    },
    { rootMargin: "100px" },
  );
  observer.observe(element);
}
