#!/usr/bin/python3
"""What Relative Temporal Encoding (RTE) has to work with on real data: tables of docs/results.md.

  experiments/time_encoding.py HGT DATA WORK [PART ...]

HGT: the program. DATA: the folder of the data sets (see data/manifests). WORK: a folder for graphs
and runs; what exists there already is not computed again, and a run that was stopped is continued.
Needs NumPy. PART, default all:
  drift     how much better times make a simple model that counts and knows no graph network: what
            there is to gain
  gaps      how far apart in time the two ends of edges are in sampled sub-graphs
  training  HGT without RTE, and with the variants of its sinusoids, by learning rate and budget
  inputs    the same without titles, and with the year as an input
  probe     how well a linear model reads a paper's year out of its inputs and out of its vectors
"""
import collections
import json
import os
import shutil
import subprocess
import sys

import numpy

TRAIN_END, VALIDATION_END = 2014, 2016
# data set, task, relations into papers that are predicted and that come from authors (prefix)
SETS = {
    "ai-venues": ("ai-venues", "paper-venue", "rev_pub"),
    "arxiv-L2": ("arxiv-cs", "paper-field-L2", "rev_in_L2"),
}
OPTIONS = ("--hidden 64 --heads 8 --batch-size 256 --repeats 3 --validation-limit 2000").split()
SAMPLINGS = {
    "64 x 3": "--width 64 --depth 3".split(),
    "512 x 3": "--width 512 --depth 3".split(),
    "10, 5": "--strategy neighbors --fanout 10,5".split(),
    "10, 5, 3": "--strategy neighbors --fanout 10,5,3".split(),
    "10, 5, 3, same time": "--strategy neighbors --fanout 10,5,3 --same-time".split(),
}
VARIANTS = {
    "no-rte": ["--no-rte"],
    "printed": ["--no-scaled-sinusoids", "--no-paired-sinusoids"],
    "scaled": ["--scaled-sinusoids", "--no-paired-sinusoids"],
    "paired": ["--no-scaled-sinusoids", "--paired-sinusoids"],
    "release": ["--scaled-sinusoids", "--paired-sinusoids"],
}


def run(command):
    print("  " + " ".join(command), file=sys.stderr, flush=True)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def table(titles, rows):
    print("| " + " | ".join(titles) + " |")
    print("| --- |" + " ---: |" * (len(titles) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print(flush=True)


# --- graphs ---

def make_graph(place, data_set):
    hgt, data, work = place
    graph = os.path.join(work, data_set + ".graph")
    if not os.path.exists(graph):
        manifests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data",
                                 "manifests")
        run([hgt, "import", os.path.join(manifests, data_set + ".toml"), "--tables",
             os.path.join(data, data_set), "--out", graph, "--quiet"])
    return graph


class Papers:
    """The papers of a graph: years, vectors of titles, labels and authors, from its arrays."""

    def __init__(self, graph, predicted):
        with open(os.path.join(graph, "schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        self.into = [relation for relation in schema["relations"] if relation["target"] == "paper"]
        self.offsets = self.incoming_offsets(graph)
        self.sources = numpy.load(os.path.join(graph, "paper", "incoming_sources.npy"))
        self.year = numpy.load(os.path.join(graph, "paper", "time.npy"))
        self.titles = numpy.load(os.path.join(graph, "paper", "features.npy")).astype("f4")
        paper, answer = self.edges(lambda edge: edge == predicted)
        classes, answer = numpy.unique(answer, return_inverse=True)
        self.labels = numpy.zeros((len(self.year), len(classes)), "f4")
        self.labels[paper, answer] = 1
        self.authors = numpy.unique(numpy.stack(self.edges(lambda edge: edge.startswith("writes"))),
                                    axis=1)

    @staticmethod
    def incoming_offsets(graph):
        """Where each list begins, and where the last one ends (docs/graph-format.md)."""
        lists = os.path.join(graph, "paper", "incoming")
        if os.path.exists(lists + "_offsets.npy"):
            return numpy.load(lists + "_offsets.npy")
        lengths = numpy.load(lists + "_lengths.npy").astype("i8")
        long = numpy.load(lists + "_long.npy")
        lengths[long[:, 0]] += long[:, 1]
        return numpy.concatenate([[0], numpy.cumsum(lengths)])

    def edges(self, wanted):
        """Targets and sources of the edges into papers whose type is wanted."""
        targets, sources = [], []
        for slot, relation in enumerate(self.into):
            if not wanted(relation["edge"]):
                continue
            first = self.offsets[slot:-1:len(self.into)]
            count = self.offsets[slot + 1::len(self.into)] - first
            targets.append(numpy.repeat(numpy.arange(len(count)), count))
            start = numpy.repeat(first - numpy.concatenate([[0], numpy.cumsum(count)[:-1]]), count)
            sources.append(self.sources[start + numpy.arange(count.sum())])
        return numpy.concatenate(targets), numpy.concatenate(sources)

    def bound(self):
        """The last year that the sub-graphs of each paper's split may contain."""
        last = numpy.where(self.year <= VALIDATION_END, VALIDATION_END, self.year.max())
        return numpy.where(self.year <= TRAIN_END, TRAIN_END, last)


# --- drift: what there is to gain ---

GAP_BINS = numpy.array([-2, 0, 1, 2, 3, 5, 9])  # ..-3 | -2, -1 | 0 | 1 | 2 | 3, 4 | 5 .. 8 | 9 ..


def author_counts(papers):
    """Answers of the other papers of a paper's authors that its sub-graph may contain, by the gap
    to them: [papers, classes, bins]."""
    bins = len(GAP_BINS) + 1
    counts = numpy.zeros((*papers.labels.shape, bins), "u2")
    bound = papers.bound()
    order = numpy.argsort(papers.authors[1], kind="stable")
    groups = numpy.split(papers.authors[0][order],
                         numpy.flatnonzero(numpy.diff(papers.authors[1][order])) + 1)
    for written in groups:
        if len(written) < 2:
            continue
        to, of = (side.ravel() for side in numpy.meshgrid(written, written))
        seen = (to != of) & (papers.year[of] <= bound[to])
        to, of = to[seen], of[seen]
        bin_of = numpy.searchsorted(GAP_BINS, papers.year[to] - papers.year[of], side="right")
        edge, label = numpy.nonzero(papers.labels[of])
        numpy.add.at(counts, (to[edge], label, bin_of[edge]), 1)
    return counts


def activity(papers, rows):
    """Logarithm of the share of each answer in all papers that may be seen, and in those of the
    paper's own year, the year before, and the two before that; the paper itself does not count:
    [rows, classes, 4]."""
    first = papers.year.min()
    by_year = numpy.zeros((papers.year.max() - first + 5, papers.labels.shape[1]), "f4")
    numpy.add.at(by_year, papers.year - first + 4, papers.labels)  # 4 years of zeros in front
    total = numpy.cumsum(by_year, axis=0)
    at = papers.year[rows] - first + 4
    own = papers.labels[rows]
    windows = [total[papers.bound()[rows] - first + 4] - own, by_year[at] - own,
               by_year[at - 1], by_year[at - 2] + by_year[at - 3]]
    return numpy.stack([numpy.log((window + 0.5) /
                                  (window.sum(1, keepdims=True) + 0.5 * window.shape[1]))
                        for window in windows], axis=2)


class Logit:
    """score[p, v] = sum over k of evidence[p, v, k] w[k], + x[p] W[:, v] + b[v]; softmax over v.
    Learned with Adam, stopped by the loss on the validation papers."""

    def __init__(self, evidence, inputs, truth):
        self.evidence, self.inputs, self.truth = evidence, inputs, truth
        self.weights = [numpy.zeros((inputs.shape[1], truth.shape[1]), "f4"),
                        numpy.zeros(truth.shape[1], "f4"), numpy.zeros(evidence.shape[2], "f4")]
        self.moments = [(numpy.zeros_like(w), numpy.zeros_like(w)) for w in self.weights]

    def log_odds(self, rows):
        linear, bias, shared = self.weights
        scores = self.inputs[rows] @ linear + bias + self.evidence[rows] @ shared
        scores -= scores.max(1, keepdims=True)
        return scores - numpy.log(numpy.exp(scores).sum(1, keepdims=True))

    def step(self, rows, number, rate):
        error = (numpy.exp(self.log_odds(rows)) - self.truth[rows]) / len(rows)
        evidence = self.evidence[rows]
        gradients = [self.inputs[rows].T @ error, error.sum(0),
                     error.ravel() @ evidence.reshape(-1, evidence.shape[2])]
        for weight, gradient, (mean, square) in zip(self.weights, gradients, self.moments):
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient * gradient - square)
            weight -= rate * (mean / (1 - 0.9 ** number)) / (
                numpy.sqrt(square / (1 - 0.99 ** number)) + 1e-8)

    def learn(self, train, validation, steps=600):
        chance = numpy.random.default_rng(2)
        best, kept = numpy.inf, None
        for number in range(1, steps + 1):
            self.step(chance.choice(train, 512), number, 0.03 * (1 - number / (steps + 1)))
            if number % 50 == 0 and self.loss(validation) < best:
                best, kept = self.loss(validation), [weight.copy() for weight in self.weights]
        self.weights = kept

    def loss(self, rows):
        return float(-(self.truth[rows] * self.log_odds(rows)).sum(1).mean())

    def ndcg(self, rows):
        order = numpy.argsort(-self.log_odds(rows), axis=1)
        relevant = numpy.take_along_axis(self.truth[rows] > 0, order, axis=1)
        weight = 1 / numpy.log2(numpy.arange(relevant.shape[1]) + 2)
        ideal = numpy.cumsum(weight)[relevant.sum(1) - 1]
        return float(((relevant * weight).sum(1) / ideal).mean())


class Asked:
    """Some papers of each split, and what is known of them."""

    def __init__(self, papers):
        answered = papers.labels.sum(1) > 0
        train = answered & (papers.year <= TRAIN_END)
        test = answered & (papers.year > VALIDATION_END)
        chance = numpy.random.default_rng(1)
        some = [chance.permutation(numpy.flatnonzero(wanted))[:count] for wanted, count in
                [(train, 20000), (answered & ~train & ~test, 5000), (test, 8000)]]
        rows = numpy.concatenate(some)
        self.train, self.validation, self.test = numpy.split(
            numpy.arange(len(rows)), numpy.cumsum([len(part) for part in some])[:-1])
        self.truth = papers.labels[rows] / papers.labels[rows].sum(1, keepdims=True)
        self.titles = papers.titles[rows]
        self.times = activity(papers, rows)
        counts = author_counts(papers)[rows].astype("f4")
        self.authors = numpy.log1p(counts.sum(2, keepdims=True))
        self.gaps = numpy.concatenate([self.authors, numpy.log1p(counts)], axis=2)

    def row(self, name, inputs, *evidence):
        model = Logit(numpy.concatenate(evidence, axis=2), inputs, self.truth)
        model.learn(self.train, self.validation)
        cells = [f(rows) for rows in (self.validation, self.test) for f in (model.loss, model.ndcg)]
        return [name, f"{cells[0]:.3f}", f"{cells[1]:.4f}", f"{cells[2]:.3f}", f"{cells[3]:.4f}"]


def drift(place):
    rows = []
    for name, (data_set, _, predicted) in SETS.items():
        asked = Asked(Papers(make_graph(place, data_set), predicted))
        overall = asked.times[:, :, :1]
        for given, inputs in [("", asked.titles[:, :0]), ("titles, ", asked.titles)]:
            for what, evidence in [
                    ("shares of answers", [overall]),
                    ("shares by year", [asked.times]),
                    ("shares, authors", [overall, asked.authors]),
                    ("shares, authors by gap", [overall, asked.gaps]),
                    ("shares by year, authors by gap", [asked.times, asked.gaps])]:
                rows.append(asked.row(f"{name}: {given}{what}", inputs, *evidence))
    table(["known to the model", "validation loss", "validation NDCG", "test loss", "test NDCG"],
          rows)


# --- gaps in sub-graphs ---


def gap_cells(counts):
    """Shares of a counter of gaps."""
    total = sum(counts.values())
    share = lambda holds: sum(n for gap, n in counts.items() if holds(gap)) / total
    wanted = [lambda g: g == 0, lambda g: 0 < abs(g) < 3, lambda g: 3 <= abs(g) < 6,
              lambda g: abs(g) > 5, lambda g: g < 0]
    return [f"{total:,}"] + [f"{share(each):.0%}" for each in wanted]


class Sampled:
    """Sub-graphs for batches of papers asked about, as hgt sample makes them."""

    def __init__(self, place, graph, hidden, sampling, samples=4):
        self.of_relation = collections.defaultdict(collections.Counter)  # gaps of all edges
        self.of_seeds = collections.defaultdict(collections.Counter)  # into papers asked about
        self.read = collections.defaultdict(list)  # gaps at which such a paper reads a node
        self.others = collections.Counter()  # papers of their authors, two steps away
        for seed in range(samples):
            self.count(seed, json.loads(run(
                [place[0], "sample", graph, "--random", "paper:256", "--split", "train", "--hide",
                 hidden, "--seed", str(seed), "--json"] + SAMPLINGS[sampling])))

    def count(self, sample, found):
        instances, seeds = found["instances"], set(found["seed_rows"])
        written, authors = collections.defaultdict(set), collections.defaultdict(set)
        for edge in found["edges"]:
            source, target, gap = edge["source"], edge["target"], edge["gap"]
            kind = instances[source]["type"]
            if edge["relation"][1] == "self":
                continue
            self.of_relation["-".join(edge["relation"])][gap] += 1
            if instances[target]["type"] == "author" and kind == "paper":
                written[target].add(source)
            if target in seeds:
                self.of_seeds[kind][gap] += 1
                self.read[sample, target, kind, instances[source]["id"]].append(gap)
                if kind == "author":
                    authors[target].add(source)
        for row in seeds:
            self.others[sample, row] = len(
                set().union(*(written[author] for author in authors[row])) - {row})

    def reach_cells(self):
        """What an asked paper reads: its authors, at how many gaps, and their other papers."""
        read = [gaps for (_, _, kind, _), gaps in self.read.items() if kind == "author"]
        counts = numpy.array(list(self.others.values()))
        at_own_time = sum(not any(gaps) for gaps in read) / len(read)
        return [f"{len(read) / len(counts):.2f}", f"{at_own_time:.0%}", f"{counts.mean():.2f}",
                f"{(counts > 0).mean():.0%}"]


def in_graph_cells(papers):
    """The same of training papers in the whole graph until the end of training."""
    early = papers.year <= TRAIN_END
    paper, author = papers.authors[:, early[papers.authors[0]]]
    others = numpy.zeros(len(papers.year), "i8")
    for written in numpy.split(paper[numpy.argsort(author, kind="stable")],
                               numpy.cumsum(numpy.unique(author, return_counts=True)[1])[:-1]):
        others[written] += len(written) - 1
    return [f"{len(paper) / early.sum():.2f}", "", f"{others[early].mean():.2f}",
            f"{(others[early] > 0).mean():.0%}"]


def gaps(place):
    rows, into_seeds, reach = [], [], []
    for name, (data_set, _, predicted) in SETS.items():
        graph = make_graph(place, data_set)
        for sampling in SAMPLINGS:
            found = Sampled(place, graph, predicted[len("rev_"):], sampling)
            reach.append([f"{name}, {sampling}"] + found.reach_cells())
            if sampling != "64 x 3":
                continue
            rows += [[f"{name}: {relation}"] + gap_cells(counts)
                     for relation, counts in sorted(found.of_relation.items())]
            into_seeds += [[f"{name}: {kind}"] + gap_cells(counts)
                           for kind, counts in sorted(found.of_seeds.items())]
        reach.append([f"{name}, the whole graph"] + in_graph_cells(Papers(graph, predicted)))
    columns = ["edges", "0", "1, 2", "3 to 5", "over 5", "source later"]
    table(["edges of sub-graphs 64 x 3, by gap in years"] + columns, rows)
    table(["edges into the papers asked about, from"] + columns, into_seeds)
    table(["set, sampling", "authors read", "at gap 0 only", "their other papers",
           "asked papers that have any"], reach)


# --- training ---

def options_for(variant, rate, batches, sampling="64 x 3", layers=2, node_vectors=100000):
    return OPTIONS + SAMPLINGS[sampling] + VARIANTS[variant] + [
        "--layers", str(layers), "--node-vectors", str(node_vectors), "--learning-rate", str(rate),
        "--batches", str(batches), "--validate-every", str(batches // 4)]


def trained(place, graph, task, name, options):
    """The run's metrics on the whole validation set: mean and every seed's."""
    hgt, _, work = place
    folder = os.path.join(work, name + ".run")
    scores = os.path.join(folder, "validation.json")
    if not os.path.exists(scores):
        if os.path.exists(os.path.join(folder, "run.json")):
            run([hgt, "train", "--run", folder, "--resume", "--quiet"])
        else:
            run([hgt, "train", graph, "--task", task, "--run", folder, "--quiet"] + options)
        run([hgt, "evaluate", folder, "--split", "validation", "--quiet"])
    with open(scores, encoding="utf-8") as file:
        return folder, json.load(file)


def result_cells(result):
    losses = [seed["loss"] for seed in result["seeds"]]
    ndcg = result["metrics"]["ndcg"]
    return [f"{numpy.mean(losses):.3f}", f"{ndcg['mean']:.4f} ± {ndcg['deviation']:.4f}"]


TWO = ("no-rte", "printed")
THREE = ("no-rte", "printed", "release")
# sampling, layers, batches, learning rate, variants
BUDGETS = [
    ("64 x 3", 2, 400, 0.003, tuple(VARIANTS)),
    ("10, 5, 3, same time", 3, 400, 0.003, THREE),
    ("64 x 3", 3, 400, 0.003, TWO),
    ("10, 5", 2, 400, 0.003, TWO),
    ("64 x 3", 2, 400, 0.001, THREE),
    ("10, 5, 3", 3, 400, 0.003, TWO),
    ("64 x 3", 2, 1600, 0.001, THREE),
]
# What an asked paper sees: little; its authors' other papers, and their answers.
NEAR, FAR = BUDGETS[:2]


def run_name(data_set, variant, budget):
    sampling, layers, batches, rate, _ = budget
    return "-".join([data_set, variant, sampling.replace(", ", "_").replace(" ", ""),
                     f"{layers}layers", str(batches), str(rate)])


def training(place):
    rows = []
    for budget in BUDGETS:
        sampling, layers, batches, rate, variants = budget
        for name, (data_set, task, _) in SETS.items():
            for variant in variants:
                _, result = trained(place, make_graph(place, data_set), task,
                                    run_name(data_set, variant, budget),
                                    options_for(variant, rate, batches, sampling, layers))
                rows.append([f"{name}: {sampling}, {layers} layers, {batches} batches, {rate}",
                             variant, *result_cells(result)])
    table(["set, sampling, budget, learning rate", "variant", "validation loss",
           "validation NDCG"], rows)


# --- other inputs ---

def with_inputs(place, data_set, kind, inputs):
    """A copy of the data set's graph whose papers have these inputs."""
    hgt, data, work = place
    graph = os.path.join(work, f"{data_set}-{kind}.graph")
    if os.path.exists(graph):
        return graph
    tables = os.path.join(work, f"{data_set}-{kind}.tables")
    shutil.rmtree(tables, ignore_errors=True)
    shutil.copytree(os.path.join(data, data_set), tables)
    subprocess.run(["chmod", "-R", "u+w", tables], check=True)
    numpy.save(os.path.join(tables, "inputs.npy"), inputs.astype("<f4"))
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "data", "manifests", data_set + ".toml"),
              encoding="utf-8") as file:
        lines = ['features = { npy = "inputs.npy" }' if line.startswith("features =") else line
                 for line in file.read().split("\n")]
    manifest = os.path.join(tables, "manifest.toml")
    with open(manifest, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    run([hgt, "import", manifest, "--tables", tables, "--out", graph, "--quiet"])
    return graph


def inputs(place):
    rows = []
    sampling, layers, batches, rate, _ = FAR
    for name, (data_set, task, predicted) in SETS.items():
        papers = Papers(make_graph(place, data_set), predicted)
        year = (papers.year[:, None] - 2005) / 5
        for kind, given, variants in [
                ("titles-year", numpy.concatenate([papers.titles, year], axis=1), ("no-rte",)),
                ("untitled", numpy.ones((len(year), 1)), TWO)]:
            graph = with_inputs(place, data_set, kind, given)
            for variant in variants:
                name_of_run = run_name(f"{data_set}-{kind}", variant, FAR)
                _, result = trained(place, graph, task, name_of_run,
                                    options_for(variant, rate, batches, sampling, layers))
                rows.append([f"{name}, {kind}: {variant}", *result_cells(result)])
    table(["set, inputs of papers, variant", "validation loss", "validation NDCG"], rows)


# --- probe ---

def ridge(vectors, years, train, held_out, strength=1e-3):
    """R^2 and mean absolute error in years on the held out rows."""
    mean = vectors[train].mean(0)
    deviation = vectors[train].std(0) + 1e-6
    x = (vectors - mean) / deviation
    gram = x[train].T @ x[train] + strength * len(train) * numpy.eye(x.shape[1])
    center = years[train].mean()
    weight = numpy.linalg.solve(gram, x[train].T @ (years[train] - center))
    error = years[held_out] - center - x[held_out] @ weight
    return 1 - error.var() / years[held_out].var(), numpy.abs(error).mean()


def probe(place):
    hgt = place[0]
    rows = []
    for name, (data_set, task, predicted) in SETS.items():
        graph = make_graph(place, data_set)
        papers = Papers(graph, predicted)
        early = papers.year <= TRAIN_END
        years = papers.year[early].astype("f8")
        order = numpy.random.default_rng(1).permutation(len(years))
        train, held_out = numpy.array_split(order, 2)
        sources = [("titles (the inputs)", papers.titles[early]),
                   ("answers", papers.labels[early]),
                   ("titles and answers",
                    numpy.concatenate([papers.titles, papers.labels], axis=1)[early])]
        for budget in (NEAR, FAR):
            sampling, layers, batches, rate, _ = budget
            for variant in TWO:
                folder, _ = trained(place, graph, task, run_name(data_set, variant, budget),
                                    options_for(variant, rate, batches, sampling, layers))
                out = folder[:-len(".run")] + ".vectors"
                if not os.path.exists(out):
                    run([hgt, "embed", folder, "--type", "paper", "--at", str(TRAIN_END), "--out",
                         out, "--quiet"])
                sources.append((f"vectors of {layers} layers, {variant}",
                                numpy.load(os.path.join(out, "vectors.npy"))))
        spread = numpy.abs(years[held_out] - numpy.median(years[train])).mean()
        rows.append([f"{name}: nothing", "0", f"{spread:.2f}"])
        for what, vectors in sources:
            r2, miss = ridge(vectors.astype("f8"), years, train, held_out)
            rows.append([f"{name}: {what}", f"{r2:.2f}", f"{miss:.2f}"])
    table([f"year of papers until {TRAIN_END} from", "R²", "mean error in years"], rows)


PARTS = {"drift": drift, "gaps": gaps, "training": training, "inputs": inputs, "probe": probe}


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    for name in names or PARTS:
        print(f"## {name}\n", flush=True)
        PARTS[name]((hgt, data, work))


if __name__ == "__main__":
    if len(sys.argv) < 4 or not set(sys.argv[4:]) <= set(PARTS):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
