#!/usr/bin/python3
"""How gcn weighs its neighbors, by validation: the table of docs/results.md.

  experiments/gcn_weights.py HGT DATA WORK [NAME ...]

Takes the graphs and tasks NAME of compare_models.py, trains gcn with --degree-weights mean and
symmetric on each, two seeds and half of that script's batches, and prints loss, NDCG and MRR of the
validation set for each seed. What exists in WORK already is not computed again.
"""
import json
import os
import sys

from compare_models import EXPERIMENTS, make_graph, run

BUDGET = ("--hidden 64 --layers 2 --node-vectors 100000 --width 64 --depth 3 --batch-size 256 "
          "--batches 200 --learning-rate 0.003 --validation-limit 2000 --validate-every 100 "
          "--repeats 2").split()
DEFAULT = ("small-venue", "ai-venues")


def validation(hgt, graph, task, folder, weights):
    if not os.path.exists(os.path.join(folder, "training.json")):
        run([hgt, "train", graph, "--task", task, "--run", folder, "--model", "gcn",
             "--degree-weights", weights, "--quiet"] + BUDGET)
    return json.loads(run([hgt, "evaluate", folder, "--split", "validation", "--json", "--quiet"]))


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    print("| | weights | loss | ndcg | mrr |\n| --- | --- | ---: | ---: | ---: |")
    for name, data_set, task, _ in EXPERIMENTS:
        if name not in (names or DEFAULT):
            continue
        graph = make_graph(hgt, data, work, data_set)
        for weights in ("mean", "symmetric"):
            folder = os.path.join(work, f"{name}-gcn-{weights}.run")
            seeds = validation(hgt, graph, task, folder, weights)["seeds"]
            losses = " ".join(f"{seed['loss']:.4f}" for seed in seeds)
            metrics = " | ".join(" ".join(f"{seed['metrics'][metric]:.4f}" for seed in seeds)
                                 for metric in ("ndcg", "mrr"))
            print(f"| {name} | {weights} | {losses} | {metrics} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
