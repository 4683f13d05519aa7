export type Child = Node | string | number | null | undefined | Child[];
type Listener = (event: never) => void;
export type Attributes = Record<string, string | number | boolean | undefined | Listener | Record<string, string>>;

// Text reaches the document as text nodes only, so names are never read as HTML.
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  decorate(element, attributes);
  append(element, children);
  return element;
}

export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  decorate(element, attributes);
  append(element, children);
  return element;
}

let lastId = 0;
export function freshId(prefix: string): string {
  return `${prefix}-${++lastId}`;
}

function decorate(element: HTMLElement | SVGElement, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (typeof value === "object") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined) element.append(child instanceof Node ? child : String(child));
  }
}
