#!/usr/bin/python3
"""Compares all models on real data sets and on the generated graph: the table of docs/results.md.

  experiments/compare_models.py HGT DATA WORK [NAME ...]

HGT: the program. DATA: the folder of the data sets (see data/manifests). WORK: a folder for graphs
and runs; what exists there already is not computed again, and a comparison that was stopped is
continued. NAME: which experiments; default: all. Every model has the same budget: hidden size,
sampling, batches. Prints the table of each comparison, then NDCG and MRR of all of them in one
table.
"""
import json
import os
import subprocess
import sys

BUDGET = "--hidden 64 --heads 8 --layers 2 --node-vectors 100000 --repeats 3".split()
PAPERS = BUDGET + ("--width 64 --depth 3 --batch-size 256 --batches 400 --learning-rate 0.003 "
                   "--validation-limit 2000 --validate-every 100").split()
AUTHORS = BUDGET + ("--strategy neighbors --fanout 8,3 --batch-size 64 --validation-batch-size 64 "
                    "--batches 300 --validate-every 100 --learning-rate 0.002").split()
# name, graph, task, options
EXPERIMENTS = [
    ("small-venue", "small", "paper-venue", PAPERS),
    ("ai-venues", "ai-venues", "paper-venue", PAPERS),
    ("vis-venue", "ieee-vis", "paper-venue", PAPERS),
    ("arxiv-L1", "arxiv-cs", "paper-field-L1", PAPERS + ["--also-hide", "in_L2"]),
    ("ai-authors", "ai-venues", "ai-authors.toml", AUTHORS),
    ("vis-field", "ieee-vis", "paper-field", PAPERS),
    ("arxiv-L2", "arxiv-cs", "paper-field-L2", PAPERS),
]


def run(command):
    print("  " + " ".join(command), file=sys.stderr)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make_graph(hgt, data, work, name):
    graph = os.path.join(work, name + ".graph")
    if os.path.exists(graph):
        return graph
    if name == "small":
        run([hgt, "generate", "--preset", "small", "--out", graph, "--quiet"])
    else:
        manifests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data",
                                 "manifests")
        run([hgt, "import", os.path.join(manifests, name + ".toml"), "--tables",
             os.path.join(data, name), "--out", graph, "--quiet"])
    return graph


def compare(hgt, data, work, entry):
    name, data_set, task, options = entry
    graph = make_graph(hgt, data, work, data_set)
    folder = os.path.join(work, name + ".comparison")
    if task.endswith(".toml"):
        task = os.path.join(os.path.dirname(os.path.abspath(__file__)), task)
    if os.path.exists(os.path.join(folder, "comparison.json")):
        return run([hgt, "compare", "--run", folder, "--resume", "--quiet"])
    return run([hgt, "compare", graph, "--task", task, "--run", folder, "--quiet"] + options)


def summary_rows(work, name):
    """One row for NDCG and one for MRR; * where a model differs from hgt with p < 0.01."""
    with open(os.path.join(work, name + ".comparison", "results.json"), encoding="utf-8") as file:
        models = json.load(file)["models"]
    rows = []
    for metric in ("ndcg", "mrr"):
        best = max(model["metrics"][metric]["mean"] for model in models)
        cells = []
        for model in models:
            value = model["metrics"][metric]
            text = f"{value['mean']:.3f} ± {value['deviation']:.3f}"
            against = model.get("ndcg_against_hgt")
            if metric == "ndcg" and against and against["p_value"] < 0.01:
                text += "*"
            cells.append(f"**{text}**" if value["mean"] == best else text)
        rows.append(f"| {name} | {metric} | " + " | ".join(cells) + " |")
    titles = "| | | " + " | ".join(model["model"] for model in models) + " |"
    return titles, "| --- | --- |" + " ---: |" * len(models), rows


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    lines = []
    for entry in EXPERIMENTS:
        if names and entry[0] not in names:
            continue
        print(f"## {entry[0]}\n\n{compare(hgt, data, work, entry)}", flush=True)
        titles, rule, rows = summary_rows(work, entry[0])
        lines = (lines or [titles, rule]) + rows
    print("## all\n\n" + "\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
