import { h } from "./dom";
import { decimal, percent } from "./format";
import type { Graph, SimilarAnswer } from "./model";
import { placeLink, type Place } from "./place";
import { failure, hint } from "./section";
import { Latest, type Api } from "./source";
import { table } from "./table";
import { timeSlider } from "./time_slider";

const top = 10;
const pause = 120; // milliseconds that the slider rests before the question is sent

export function similarNodes(api: Api, graph: Graph, place: Place, moved: (at: string) => void): HTMLElement {
  const latest = new Latest();
  const holder = h("div", { class: "panel" });
  const spoken = h("p", { class: "visually-hidden", role: "status" });
  let timer = 0;
  const ask = (at: string, delay: number): void => {
    clearTimeout(timer);
    const signal = latest.next();
    holder.setAttribute("aria-busy", "true");
    timer = window.setTimeout(() => void load(at, signal), delay);
  };
  const load = async (at: string, signal: AbortSignal): Promise<void> => {
    try {
      const answer = await api.similar(place.type, place.id, at, top, signal);
      if (signal.aborted) return;
      holder.replaceChildren(h("div", {}, ...nearest(answer, place.type)));
      spoken.textContent = inShort(answer);
    } catch (error) {
      if (!signal.aborted) holder.replaceChildren(failure(error, () => ask(at, 0)));
    } finally {
      if (!signal.aborted) holder.removeAttribute("aria-busy");
    }
  };
  // Events have a time of their own: there is none to choose.
  const isEvent = graph.nodes.some((one) => one.type === place.type && one.event);
  const steps = isEvent ? [] : graph.steps;
  const first = firstStep(steps, place.at);
  const at = steps[first] ?? "";
  holder.append(h("p", { class: "loading" }, "Computing …"));
  ask(at, 0);
  if (steps.length === 0) return h("div", {}, holder, spoken);
  const slider = timeSlider("Time", steps, first, (index) => {
    moved(steps[index] ?? "");
    ask(steps[index] ?? "", pause);
  });
  return h("div", {}, slider.element, holder, spoken);
}

function firstStep(steps: string[], at: string): number {
  const index = steps.indexOf(at);
  return index >= 0 ? index : Math.max(0, steps.length - 1);
}

// For screen readers, which would otherwise read the whole table at each move.
function inShort(answer: SimilarAnswer): string {
  const absent = answer.is_there ? "" : ` ${notThere(answer.time)}`;
  return `Nearest${answer.time ? ` at ${answer.time}` : ""}: ${answer.nearest
    .slice(0, 3)
    .map((row) => row.name || row.id)
    .join(", ")}.${absent}`;
}

function notThere(time: string): string {
  return `It is not in the graph by ${time}; this is what the model makes of it anyway.`;
}

function nearest(answer: SimilarAnswer, type: string): HTMLElement[] {
  if (answer.nearest.length === 0) return [hint(`No other ${type} to compare with at ${answer.time}.`)];
  const caption = answer.time ? `Nearest ${type} nodes at ${answer.time}` : `Nearest ${type} nodes`;
  const index = answer.recall === null ? "" : `, through an index that finds ${percent(answer.recall)} of the nearest`;
  return [
    ...(answer.is_there ? [] : [hint(notThere(answer.time))]),
    table(
      caption,
      [
        {
          head: "Node",
          kind: "header",
          cell: (row) => h("a", { href: placeLink({ type, id: row.id, at: answer.time }) }, row.name || row.id),
        },
        { head: "Similarity", cell: (row) => decimal(row.similarity, 3), bar: (row) => row.similarity },
        { head: "Distance", kind: "number", cell: (row) => decimal(row.distance, 3) },
      ],
      answer.nearest,
    ),
    h("p", { class: "caption" }, `Compared: ${answer.among}${index}.`),
  ];
}
