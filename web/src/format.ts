const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const missing = "–";

// NaN arrives as null, because JSON has no NaN.
function known(value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function count(value: number): string {
  return known(value) ? whole.format(value) : missing;
}

export function short(value: number): string {
  return known(value) ? compact.format(value) : missing;
}

export function decimal(value: number, digits = 4): string {
  return known(value) ? value.toFixed(digits).replace("-", "−") : missing;
}

export function percent(share: number, digits = 1): string {
  return known(share) ? `${(100 * share).toFixed(digits)} %` : missing;
}

// In percentage points.
export function change(difference: number): string {
  if (!known(difference)) return missing;
  const points = (100 * difference).toFixed(1);
  if (Number(points) === 0) return "±0.0";
  return difference > 0 ? `+${points}` : points.replace("-", "−");
}

export function mean(value: number): string {
  if (!known(value)) return missing;
  return value >= 100 ? count(value) : value.toFixed(1);
}

export function duration(seconds: number): string {
  if (!known(seconds)) return missing;
  if (seconds < 1) return `${(1000 * seconds).toFixed(0)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const total = Math.round(seconds);
  const minutes = Math.floor(total / 60);
  if (minutes < 60) return `${minutes} min ${total % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function memory(megabytes: number): string {
  if (!known(megabytes)) return missing;
  return megabytes < 1024 ? `${megabytes.toFixed(0)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}

const metricNames: Record<string, string> = {
  ndcg: "NDCG",
  ndcg_release: "NDCG (release)",
  mrr: "MRR",
  accuracy: "Accuracy",
  micro_f1: "Micro F1",
  macro_f1: "Macro F1",
  auc: "AUC",
};

export function metricName(name: string): string {
  return metricNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

export function meanAndDeviation(mean: number, deviation: number, seeds: number, digits = 4): string {
  const text = decimal(mean, digits);
  return seeds > 1 && known(deviation) ? `${text} ± ${decimal(deviation, digits)}` : text;
}

export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : noun.endsWith("h") ? "es" : "s"}`;
}

export function clipped(text: string, length: number): string {
  const letters = [...text];
  return letters.length <= length
    ? text
    : `${letters
        .slice(0, length - 1)
        .join("")
        .trimEnd()}…`;
}

export function date(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
