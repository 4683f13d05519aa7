import { freshId, h } from "./dom";

export interface TimeSlider {
  element: HTMLElement;
  show: (index: number) => void; // moves the slider without telling
}

const pace = 1200; // milliseconds for each time when playing

export function timeSlider(
  label: string,
  times: string[],
  first: number,
  moved: (index: number) => void,
  playable = false,
): TimeSlider {
  const id = freshId("time");
  const range = h("input", { id, type: "range", min: 0, max: times.length - 1, step: 1, value: first });
  const output = h("output", { for: id }, times[first]);
  const show = (index: number): void => {
    range.value = String(index);
    range.setAttribute("aria-valuetext", times[index] ?? "");
    output.textContent = times[index] ?? "";
  };
  range.addEventListener("input", () => {
    show(Number(range.value));
    moved(Number(range.value));
  });
  show(first);
  const player = playable && times.length > 1 ? playButton(range) : null;
  const element = h("div", { class: "slider" }, h("label", { for: id }, label), player, range, output);
  return { element, show };
}

function playButton(range: HTMLInputElement): HTMLButtonElement {
  let timer = 0;
  const button = h("button", { type: "button", "aria-pressed": "false" }, "Play");
  const stop = (): void => {
    clearInterval(timer);
    timer = 0;
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  };
  const move = (value: number): void => {
    range.value = String(value);
    range.dispatchEvent(new Event("input"));
  };
  const step = (): void => {
    if (Number(range.value) >= Number(range.max)) stop();
    else move(Number(range.value) + 1);
  };
  button.addEventListener("click", () => {
    if (timer !== 0) return stop();
    if (range.value === range.max) move(0);
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    timer = window.setInterval(step, pace);
  });
  return button;
}
