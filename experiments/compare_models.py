#!/usr/bin/python3
"""Compares all models on real data sets and on the generated graph: the tables of docs/results.md.

  experiments/compare_models.py HGT DATA WORK [NAME ...]

HGT: the program. DATA: the folder of the data sets (see data/manifests). WORK: a folder for graphs
and runs; what is there already is not done again, and a comparison that was stopped goes on. NAME:
which experiments; default: all. One budget for every model: hidden size, sampling, batches.
"""
import os
import subprocess
import sys

BUDGET = "--hidden 64 --heads 8 --layers 2 --node-vectors 100000 --repeats 3".split()
PAPERS = BUDGET + ("--width 64 --depth 3 --batch-size 256 --batches 400 --learning-rate 0.003 "
                   "--validation-limit 2000 --validate-every 100").split()
AUTHORS = BUDGET + ("--strategy neighbors --fanout 8,3 --batch-size 64 --test-batch-size 64 "
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


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    for entry in EXPERIMENTS:
        if not names or entry[0] in names:
            print(f"## {entry[0]}\n\n{compare(hgt, data, work, entry)}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
