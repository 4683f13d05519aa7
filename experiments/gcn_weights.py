#!/usr/bin/python3
"""How gcn weighs its neighbors, by validation: the table of docs/results.md.

  experiments/gcn_weights.py HGT DATA WORK [NAME ...]

As compare_models.py, whose graphs, tasks and budget it takes: trains gcn with --degree-weights mean
and symmetric, and prints loss, NDCG and MRR of the validation set for each seed. What exists in
WORK already is not computed again.
"""
import json
import os
import sys

from compare_models import EXPERIMENTS, make_graph, run

DEFAULT = ("small-venue", "ai-venues", "vis-venue", "ai-authors", "vis-field", "arxiv-L2")


def validation(hgt, graph, task, options, folder, weights):
    if not os.path.exists(os.path.join(folder, "training.json")):
        run([hgt, "train", graph, "--task", task, "--run", folder, "--model", "gcn",
             "--degree-weights", weights, "--threads", "1", "--quiet"] + options)
    return json.loads(run([hgt, "evaluate", folder, "--split", "validation", "--json", "--quiet"]))


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    print("| | weights | loss | ndcg | mrr |\n| --- | --- | ---: | ---: | ---: |")
    for name, data_set, task, options in EXPERIMENTS:
        if name not in (names or DEFAULT):
            continue
        graph = make_graph(hgt, data, work, data_set)
        if task.endswith(".toml"):
            task = os.path.join(os.path.dirname(os.path.abspath(__file__)), task)
        for weights in ("mean", "symmetric"):
            folder = os.path.join(work, f"{name}-gcn-{weights}.run")
            seeds = validation(hgt, graph, task, options, folder, weights)["seeds"]
            cells = [" ".join(f"{seed[key]:.4f}" for seed in seeds)
                     for key in ("loss", "ndcg", "mrr")]
            print(f"| {name} | {weights} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
