import type {
  Attention,
  Balance,
  Confusion,
  Evolution,
  NodeAnswer,
  Report,
  SearchAnswer,
  SimilarAnswer,
} from "./model";

// What hgt view computes only when it is looked at.
export interface Panels {
  confusion: Confusion;
  attention: Attention;
  evolution: Evolution;
  balance: Balance;
}

export interface Source {
  report: Report;
  api: Api | null; // null: a report file, without a server to ask
}

export class Api {
  panel<Name extends keyof Panels>(name: Name, signal?: AbortSignal): Promise<Panels[Name] | null> {
    return fetchJson(`/api/${name}`, signal);
  }

  search(type: string, text: string, signal: AbortSignal): Promise<SearchAnswer> {
    return fetchJson(query("/api/search", { type, q: text }), signal);
  }

  node(type: string, id: string, signal: AbortSignal): Promise<NodeAnswer> {
    return fetchJson(query("/api/node", { type, id }), signal);
  }

  similar(type: string, id: string, at: string, top: number, signal: AbortSignal): Promise<SimilarAnswer> {
    const parameters: Record<string, string> = { type, id, top: String(top) };
    if (at !== "") parameters["at"] = at;
    return fetchJson(query("/api/similar", parameters), signal);
  }
}

// Hands out signals such that only the latest request is still wanted.
export class Latest {
  private controller = new AbortController();

  next(): AbortSignal {
    this.controller.abort();
    this.controller = new AbortController();
    return this.controller.signal;
  }
}

export async function openSource(): Promise<Source> {
  const embedded = JSON.parse(document.getElementById("report")?.textContent ?? "null") as Report | null;
  if (embedded !== null && !embedded.live) return { report: embedded, api: null };
  const report = embedded ?? (await fetchJson<Report>("/api/report"));
  return { report, api: report.live ? new Api() : null };
}

function query(path: string, parameters: Record<string, string>): string {
  return `${path}?${new URLSearchParams(parameters)}`;
}

async function fetchJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path, signal ? { signal } : {}).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Error("No answer from hgt view: is it still running?");
  });
  if (response.ok) return (await response.json()) as T;
  const failure = (await response.json().catch(() => null)) as { error?: string } | null;
  throw new Error(failure?.error ?? `hgt view answered ${path} with status ${response.status}.`);
}
