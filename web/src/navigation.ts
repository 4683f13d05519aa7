import { h } from "./dom";

// Links to the sections that are shown. They scroll instead of changing the address, which holds the node asked for.
export class Navigation {
  private readonly list = h("ul", {});
  readonly element = h("nav", { "aria-label": "Sections" }, this.list);
  private readonly links = new Map<Element, HTMLAnchorElement>();
  private readonly observer = new IntersectionObserver((entries) => this.mark(entries), {
    rootMargin: "-10% 0px -70% 0px",
  });

  show(sections: HTMLElement[]): void {
    this.observer.disconnect();
    this.links.clear();
    for (const section of sections) {
      const heading = section.querySelector<HTMLElement>("h2, h3");
      if (!heading) continue;
      const link = h("a", { href: `#${heading.id}` }, heading.textContent);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        section.scrollIntoView();
        heading.focus({ preventScroll: true });
      });
      this.links.set(section, link);
      this.observer.observe(section);
    }
    this.list.replaceChildren(...[...this.links.values()].map((link) => h("li", {}, link)));
  }

  private mark(entries: IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      const link = this.links.get(entry.target);
      if (entry.isIntersecting) link?.setAttribute("aria-current", "true");
      else link?.removeAttribute("aria-current");
    }
  }
}
