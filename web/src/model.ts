// The data that the program writes into the page or answers with: the contract between the two sides.

export interface Report {
  hgt: string; // version
  made: string; // ISO date and time
  live: boolean; // true: the API answers
  runs: RunReport[];
}

export interface RunReport {
  name: string;
  model: string;
  task: { name: string; node: string; other: string; kind: string; classes: number };
  graph: Graph;
  options: [string, string][];
  environment: [string, string][];
  training: Training | null; // null: not trained to the end
  curves: Curve[];
  results: Results | null; // null: not evaluated
  confusion: Confusion | null;
  attention: Attention | null;
  evolution: Evolution | null;
  balance: Balance | null;
}

export interface Graph {
  folder: string;
  time_unit: string;
  times: [string, string] | null;
  steps: string[]; // the times that a slider offers, ascending; empty without times
  nodes: { type: string; nodes: number; event: boolean; named: boolean; features: string | null; width: number }[];
  relations: { source: string; edge: string; target: string; edges: number }[]; // one direction only
}

export interface Training {
  parameters: number;
  peak_memory_mb: number;
  seeds: {
    seed: number;
    batches: number;
    best_batch: number;
    validation_loss: number;
    seconds: number;
    seconds_per_batch: number;
    stopped_early: boolean;
  }[];
  warnings: Warning[];
}

// Why a score may mean little.
export interface Warning {
  kind: string;
  text: string;
}

export interface Curve {
  seed: number;
  points: { batch: number; train_loss: number; validation_loss: number; ndcg: number }[];
}

export interface Metric {
  name: string;
  mean: number;
  deviation: number;
}

export interface Results {
  split: string;
  examples: number;
  seeds: number;
  metrics: Metric[];
  warnings: Warning[];
}

// The classes with the most examples, and the rest as a last class. Row: truth, column: prediction.
export interface Confusion {
  split: string;
  examples: number;
  classes: string[];
  counts: number[][];
}

// The attention tree in two forms. Shares: attention is a share of all attention that reaches the
// target, and the children of a branch sum to its share. Means: it is the mean attention of an edge
// of the relation in a layer, as in the paper.
export interface Attention {
  shares: AttentionTree;
  means: AttentionTree;
}

export interface AttentionTree {
  form: "shares" | "means";
  target: string;
  layers: number;
  from_layer: number; // in which the relations into the target are read, counted from 1
  examples: number;
  svg: string;
  children: Branch[];
  others?: number; // of the children that were left out: sum of the shares, or largest mean
}

export interface Branch {
  relation: string;
  type: string;
  attention: number;
  children: Branch[];
  others?: number;
}

export interface Evolution {
  type: string;
  layer: number;
  among: string; // in words: which nodes were compared
  times: string[];
  focus: Focus[];
  map: MapStep[]; // one plane for all times
}

export interface Focus {
  id: string;
  name: string;
  // One number for each time; null: one of the two is not there yet.
  lines: { id: string; name: string; similarity: (number | null)[] }[];
}

export interface MapStep {
  time: string;
  points: { id: string; name: string; x: number; y: number }[];
}

export interface Balance {
  batches: number;
  nodes: { type: string; mean: number }[];
  edges: { relation: string; mean: number }[];
}

export interface Found {
  type: string;
  id: string;
  name: string; // may be empty
  time: string; // may be empty
}

export interface SearchAnswer {
  nodes: Found[];
  stopped_early: boolean; // there may be more, and better ones
}

export interface ClassShare {
  class: string;
  name: string;
  probability: number;
}

export interface NodeAnswer {
  node: Found;
  prediction: ClassShare[] | null;
  no_prediction: string | null; // why there is none
  truth: string[]; // names of the right classes, if known
  self: number | null; // what of its attention in the last layer the node pays to itself
  neighbors: Neighbor[];
  attention: Attention | null; // null: the model pays no attention
}

export interface Neighbor {
  node: Found;
  relations: string[];
  share: number; // of the node's attention in the last layer
  without: ClassShare[] | null; // prediction without this neighbor
}

export interface SimilarAnswer {
  time: string;
  among: string;
  is_there: boolean; // false: nothing of the node is in the graph by then
  recall: number | null; // share of the nearest that the index finds; null: all were compared
  nearest: { id: string; name: string; distance: number; similarity: number }[];
}
