#!/usr/bin/python3
"""Venues over time on real data: the paper's Table 3, as in docs/results.md.

  experiments/case_study.py HGT DATA WORK

HGT: the program. DATA: the folder of the data sets. WORK: a folder for graphs and runs; what
exists there already is not computed again. Titles are encoded by fastText; venues have no vectors
of their own and are represented by the first layer. Models are trained on Paper-Venue with three
seeds; the table shows the first one, and its last column says how many of the three nearest venues
the three models have in common, on average over pairs of models. Below it are the validation
losses of these models and of the same models without RTE; unless the former are lower, the models
do not use the time.
"""
import itertools
import json
import os
import sys

from compare_models import make_graph, run

BUDGET = ("--hidden 64 --heads 4 --width 64 --depth 4 --batch-size 256 --batches 1200 "
          "--learning-rate 0.001 --validation-limit 2000 --validate-every 200 --node-vectors 0 "
          "--quiet").split()
# graph, task, layers (as many as it takes for the first one to be trained for venues: papers of
# ai-venues meet through authors only), venues, how they are compared
STUDIES = [
    ("ai-venues", "paper-venue", 4, ["nips", "icml", "cvpr", "icra"], []),
    ("acl-anthology", "acl-venue.toml", 3, ["ACL", "EMNLP", "COLING", "LREC"], ["--among", "30"]),
]
TIMES = "2000,2010,2019"
SEEDS = (1, 2, 3)


def trained(hgt, graph, task, folder, options):
    if not os.path.exists(os.path.join(folder, "training.json")):
        run([hgt, "train", graph, "--task", task, "--run", folder] + options + BUDGET)
    return folder


def loss(folder):
    with open(os.path.join(folder, "training.json")) as file:
        return f"{json.load(file)['seeds'][0]['validation_loss']:.3f}"


def similar(hgt, folder, venues, how):
    words = [hgt, "similar", folder, "--at", TIMES, "--samples", "32", "--json", "--quiet"] + how
    for venue in venues:
        words += ["--node", "venue:" + venue]
    return json.loads(run(words))["nodes"]


def shared_of_three(rows):
    tops = [{other["id"] for other in row["nearest"][:3]} for row in rows]
    pairs = list(itertools.combinations(tops, 2))
    return sum(len(a & b) for a, b in pairs) / len(pairs)


def main(hgt, data, work):
    os.makedirs(work, exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    for name, task, layers, venues, how in STUDIES:
        graph = make_graph(hgt, data, work, name)
        run([hgt, "features", graph, "--type", "paper", "--from", "title", "--quiet"])
        task = os.path.join(here, task) if task.endswith(".toml") else task
        runs, without = ([trained(hgt, graph, task, os.path.join(work, f"{name}{kind}-{seed}.run"),
                                  ["--seed", str(seed), "--layers", str(layers)] + more)
                          for seed in SEEDS] for kind, more in (("", []), ("-no-rte", ["--no-rte"])))
        answers = [similar(hgt, folder, venues, how) for folder in runs]
        print(f"\n**{name}**\n\n| venue | time | most similar venues | of three |")
        print("| --- | --- | --- | ---: |")
        for rows in zip(*answers):
            first = rows[0]
            nearest = ", ".join(other["name"] for other in first["nearest"])
            absent = "" if first["is_there"] else " (not in the data by then)"
            print(f"| {first['name']}{absent} | {first['time']} | {nearest} | "
                  f"{shared_of_three(rows):.1f} |", flush=True)
        print(f"\nvalidation loss {', '.join(map(loss, runs))}; without RTE "
              f"{', '.join(map(loss, without))}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
