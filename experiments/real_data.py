#!/usr/bin/python3
"""Trains and scores HGT on real data sets, and prints the tables of docs/results.md.

  experiments/real_data.py HGT DATA WORK [NAME ...]

HGT: the program. DATA: the folder of the data sets (see data/manifests). WORK: a folder for graphs
and runs; what exists there already is not computed again, and a run that was stopped is continued.
NAME: which experiments; default: all.
"""
import json
import os
import subprocess
import sys

SEEDS = "3"
SMALL = "--hidden 64 --heads 8 --node-vectors 100000".split()
PAPERS = SMALL + ("--layers 2 --width 64 --depth 3 --batch-size 256 --learning-rate 0.003 "
                  "--validation-limit 2000 --validate-every 100").split()
LINKS = SMALL + ("--scorer dot --batches 400 --validate-every 100 --validation-limit 2000 "
                 "--negatives 256 --test-negatives 1000").split()
MOVIES = ("--split random --layers 1 --strategy neighbors --fanout 30 --batch-size 512 "
          "--learning-rate 0.003").split()
AUTHORS = SMALL + ("--layers 2 --strategy neighbors --fanout 8,3 --batch-size 64 "
                   "--validation-batch-size 64 --batches 300 --validate-every 100 "
                   "--learning-rate 0.002").split()
# name, data set, task, options
EXPERIMENTS = [
    ("ai-venues", "ai-venues", "paper-venue", PAPERS + ["--batches", "400"]),
    ("acl-anthology", "acl-anthology", "acl-venue.toml", PAPERS + ["--batches", "400"]),
    ("arxiv-L1", "arxiv-cs", "paper-field-L1",
     PAPERS + ["--batches", "400", "--also-hide", "in_L2"]),
    ("arxiv-L2", "arxiv-cs", "paper-field-L2", PAPERS + ["--batches", "400"]),
    ("ai-authors", "ai-venues", "ai-authors.toml", AUTHORS),
    ("ai-authors-no-institutes", "ai-venues", "ai-authors.toml",
     AUTHORS + ["--leave-out", "affiliated"]),
    ("movielens", "movielens-small", "link:rates", LINKS + MOVIES),
    ("movielens-all-times", "movielens-small", "link:rates",
     LINKS + MOVIES + ["--time-bound", "none"]),
    ("movielens-time", "movielens-small", "link:rates",
     LINKS + ("--train-end 2014 --validation-end 2016 --layers 2 --width 256 --depth 2 "
              "--batch-size 256 --learning-rate 0.002").split()),
]


def run(command):
    print("  " + " ".join(command), file=sys.stderr)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def experiment(hgt, data, work, entry):
    name, data_set, task, options = entry
    here = os.path.dirname(os.path.abspath(__file__))
    graph = os.path.join(work, data_set + ".graph")
    folder = os.path.join(work, name + ".run")
    if not os.path.exists(graph):
        run([hgt, "import", os.path.join(here, "..", "data", "manifests", data_set + ".toml"),
             "--tables", os.path.join(data, data_set), "--out", graph, "--quiet"])
    if task.endswith(".toml"):
        task = os.path.join(here, task)
    if os.path.exists(os.path.join(folder, "run.json")):
        run([hgt, "train", "--run", folder, "--resume", "--quiet"])
    else:
        run([hgt, "train", graph, "--task", task, "--run", folder, "--repeats", SEEDS,
             "--quiet"] + options)
    return json.loads(run([hgt, "evaluate", folder, "--json", "--quiet"]))


def cell(metrics, name):
    if name not in metrics:
        return ""
    return f"{metrics[name]['mean']:.4f} ± {metrics[name]['deviation']:.4f}"


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    columns = ["ndcg", "mrr", "accuracy", "hits@10", "auc"]
    print("| experiment | task | test examples | " + " | ".join(columns) + " |")
    print("| --- | --- | ---: |" + " --- |" * len(columns))
    for entry in EXPERIMENTS:
        if names and entry[0] not in names:
            continue
        result = experiment(hgt, data, work, entry)
        cells = [cell(result["metrics"], name) for name in columns]
        print(f"| {entry[0]} | {entry[2]} | {result['examples']:,} | " + " | ".join(cells) + " |",
              flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
