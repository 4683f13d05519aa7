import { freshId, h } from "./dom";

export interface Tab {
  name: string;
  panel: HTMLElement;
}

// Tabs as in the ARIA practices: arrows, Home and End move and select.
export function tabs(label: string, entries: Tab[], selected: (index: number) => void): HTMLElement {
  const buttons = entries.map(({ name, panel }) => {
    const button = h("button", { type: "button", role: "tab", id: freshId("tab"), "aria-controls": panel.id }, name);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", button.id);
    return button;
  });
  const select = (index: number): void => {
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === index));
      button.tabIndex = at === index ? 0 : -1;
      entries[at]!.panel.hidden = at !== index;
    });
    selected(index);
  };
  buttons.forEach((button, index) => {
    button.addEventListener("click", () => select(index));
    button.addEventListener("keydown", (event) => {
      const next = target(event.key, index, buttons.length);
      if (next === null) return;
      event.preventDefault();
      select(next);
      buttons[next]!.focus();
    });
  });
  select(0);
  return h("div", { role: "tablist", "aria-label": label, class: "tabs" }, buttons);
}

function target(key: string, index: number, count: number): number | null {
  if (key === "ArrowRight") return (index + 1) % count;
  if (key === "ArrowLeft") return (index + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
