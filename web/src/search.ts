import { freshId, h } from "./dom";
import { plural } from "./format";
import type { Found, SearchAnswer } from "./model";
import { Latest, type Api } from "./source";

const pause = 200; // milliseconds without a key before the question is sent

// A combobox over the nodes of the graph: arrows move, Enter opens, Escape closes.
export class Search {
  readonly element: HTMLElement;
  private readonly type = h("select", { id: freshId("type") });
  private readonly list = h("ul", { id: freshId("found"), role: "listbox", "aria-label": "Nodes found", hidden: true });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly input: HTMLInputElement;
  private readonly latest = new Latest();
  private timer = 0;
  private found: Found[] = [];
  private active = -1;
  private waiting = false; // for an answer
  private openFirst = false; // Enter came before the answer

  constructor(
    private readonly api: Api,
    types: string[],
    private readonly opened: (node: Found) => void,
  ) {
    this.input = h("input", {
      id: freshId("search"),
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Part of a name, or an id",
      "aria-autocomplete": "list",
      "aria-controls": this.list.id,
      "aria-expanded": "false",
    });
    this.type.append(
      h("option", { value: "" }, "all types"),
      ...types.map((type) => h("option", { value: type }, type)),
    );
    this.element = this.layout();
    this.listen();
  }

  private layout(): HTMLElement {
    const type = h("div", {}, h("label", { for: this.type.id }, "Type"), this.type);
    const text = h("div", { class: "grow" }, h("label", { for: this.input.id }, "Node"), this.input, this.list);
    return h("div", { class: "search", role: "search" }, h("div", { class: "fields" }, type, text), this.status);
  }

  private listen(): void {
    this.input.addEventListener("input", () => this.ask(pause));
    this.type.addEventListener("change", () => this.ask(0));
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.show(false));
    this.input.addEventListener("focus", () => this.show(this.found.length > 0));
  }

  private ask(delay: number): void {
    clearTimeout(this.timer);
    const signal = this.latest.next();
    const text = this.input.value.trim();
    this.waiting = text !== "";
    this.openFirst = false;
    if (this.waiting) this.timer = window.setTimeout(() => void this.fetch(text, signal), delay);
    else this.fill([], "");
  }

  private async fetch(text: string, signal: AbortSignal): Promise<void> {
    this.status.textContent = "Searching …";
    try {
      const answer = await this.api.search(this.type.value, text, signal);
      if (signal.aborted) return;
      this.fill(answer.nodes, inShort(text, answer));
      const first = answer.nodes[0];
      if (this.openFirst && first) this.open(first);
    } catch (error) {
      if (!signal.aborted) this.fill([], (error as Error).message);
    }
  }

  private fill(found: Found[], message: string): void {
    this.waiting = false;
    this.found = found;
    this.status.textContent = message;
    this.list.replaceChildren(...found.map((node) => this.option(node)));
    this.activate(-1);
    this.show(found.length > 0 && document.activeElement === this.input);
  }

  private option(node: Found): HTMLElement {
    const kind = [node.type, node.name ? node.id : "", node.time].filter(Boolean).join(" · ");
    const option = h("li", { id: freshId("option"), role: "option", "aria-selected": "false" });
    option.append(h("span", { class: "name" }, node.name || node.id), h("span", { class: "kind" }, kind));
    // Not click: the input would lose the focus before it, and the list would be gone.
    option.addEventListener("mousedown", (event) => {
      event.preventDefault();
      this.open(node);
    });
    return option;
  }

  private key(event: KeyboardEvent): void {
    const last = this.found.length - 1;
    if (event.key === "ArrowDown") this.activate(this.active >= last ? 0 : this.active + 1);
    else if (event.key === "ArrowUp") this.activate(this.active <= 0 ? last : this.active - 1);
    else if (event.key === "Enter") this.enter();
    else if (event.key === "Escape" && !this.list.hidden) this.show(false);
    else return; // so that a second Escape clears the text
    event.preventDefault();
  }

  private enter(): void {
    const node = this.found[Math.max(0, this.active)];
    if (this.waiting) this.openFirst = true;
    else if (node) this.open(node);
  }

  private activate(index: number): void {
    this.active = index;
    const options = [...this.list.children];
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
    const option = options[index];
    if (!option) return this.input.removeAttribute("aria-activedescendant");
    this.show(true);
    this.input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  private show(open: boolean): void {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
  }

  private open(node: Found): void {
    this.show(false);
    this.opened(node);
  }
}

function inShort(text: string, { nodes, stopped_early }: SearchAnswer): string {
  const found = nodes.length === 0 ? `Nothing found for “${text}”` : `${plural(nodes.length, "node")} found`;
  return stopped_early ? `${found} before the time was up; choose a type, or try an id.` : `${found}.`;
}
