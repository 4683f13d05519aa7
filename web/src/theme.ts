import { h } from "./dom";

const key = "hgt-theme";
type Theme = "light" | "dark";

export function themeButton(): HTMLButtonElement {
  const button = h("button", { type: "button", class: "theme" });
  const show = (theme: Theme): void => {
    document.documentElement.dataset["theme"] = theme;
    button.textContent = theme === "dark" ? "☀ Light" : "☾ Dark";
    button.setAttribute("aria-label", theme === "dark" ? "Use light colors" : "Use dark colors");
  };
  button.addEventListener("click", () => {
    const theme = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
    show(theme);
    remember(theme);
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  const asSystem = (): Theme => (system.matches ? "dark" : "light");
  system.addEventListener("change", () => show(remembered() ?? asSystem()));
  show(remembered() ?? asSystem());
  return button;
}

// Storage may be forbidden, as it is for files in some browsers; then the choice lasts as long as the page.
function remembered(): Theme | null {
  try {
    const theme = localStorage.getItem(key);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    return;
  }
}
