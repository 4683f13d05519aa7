// Makes a part that has to be scrolled reachable by keyboard, with a name; a part that fits is skipped.
export function scroller<Part extends HTMLElement>(name: string, part: Part): Part {
  new ResizeObserver(() => {
    const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    for (const [attribute, value] of [
      ["tabindex", "0"],
      ["role", "region"],
      ["aria-label", name],
    ] as const) {
      if (scrolls) part.setAttribute(attribute, value);
      else part.removeAttribute(attribute);
    }
  }).observe(part);
  return part;
}
