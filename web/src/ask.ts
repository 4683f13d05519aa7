import { h } from "./dom";
import type { NodeAnswer, RunReport } from "./model";
import { attentionPart, neighborPart, nodeHeading, predictionPart } from "./node_panel";
import { placeLink, readPlace, type Place } from "./place";
import { hint, loadInto, section } from "./section";
import { Search } from "./search";
import { similarNodes } from "./similar";
import { Latest, type Api } from "./source";

export function askSection(run: RunReport, api: Api): HTMLElement {
  const latest = new Latest();
  const holder = h("div", { class: "node" });
  const open = (place: Place, focus: boolean): void => {
    const signal = latest.next();
    void loadInto(holder, async () => {
      const answer = await api.node(place.type, place.id, signal).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (!answer || signal.aborted) return;
      holder.replaceChildren(...nodeView(run, api, answer, place));
      if (focus) holder.querySelector("h3")?.focus();
    });
  };
  const types = [...run.graph.nodes].sort(
    (a, b) => Number(b.type === run.task.node) - Number(a.type === run.task.node),
  );
  const search = new Search(
    api,
    types.map((type) => type.type),
    (node) => {
      const place = { type: node.type, id: node.id, at: readPlace()?.at ?? "" };
      history.pushState(null, "", placeLink(place));
      open(place, true);
    },
  );
  const showPlace = (focus: boolean): void => {
    const place = readPlace();
    if (place) open(place, focus);
    else
      holder.replaceChildren(
        hint("Search for a node to see what the model predicts for it, why, and what it resembles."),
      );
  };
  window.addEventListener("hashchange", () => showPlace(true));
  showPlace(false);
  return section({ level: 2 }, "Ask", "Look up any node of the graph.", search.element, holder);
}

function nodeView(run: RunReport, api: Api, answer: NodeAnswer, place: Place): HTMLElement[] {
  const moved = (at: string): void => history.replaceState(null, "", placeLink({ ...place, at }));
  const similar = h("div", {}, h("h4", {}, "Similar nodes"), similarNodes(api, run.graph, place, moved));
  return [
    nodeHeading(answer.node),
    h("div", { class: "columns" }, predictionPart(answer), similar),
    neighborPart(answer),
    attentionPart(run, answer),
  ];
}
