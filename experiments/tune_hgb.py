#!/usr/bin/python3
"""Searches for good options on the data sets of HGB, with nothing chosen by hand, and scores them.

  experiments/tune_hgb.py HGT DATA WORK [--budget 30m | --trials N] [--seeds N] [NAME ...]

HGT: the program. DATA: the folder of the data sets (see data/manifests). WORK: a folder for graphs
and searches; what exists there already is not computed again, and a search that was stopped is
continued, also with another budget, unless its test score was read. The budget and the number of
trials are those of each data set; default: --trials 54. NAME: acm, dblp, imdb; default: all.
Trials are scored by micro F1 on validation; the winner is trained with five seeds (or N) and scored
on the test examples once.
"""
import argparse
import json
import os
import subprocess
import sys

# name, task, what was published for HGT: micro and macro F1
DATA_SETS = [("acm", "paper:class", "91.00 / 91.12"), ("dblp", "author:class", "93.49 / 93.01"),
             ("imdb", "movie:class", "67.20 / 63.00")]


def run(command):
    print("  " + " ".join(command), file=sys.stderr)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def tune(options, name, task):
    here = os.path.dirname(os.path.abspath(__file__))
    graph = os.path.join(options.work, f"hgb-{name}.graph")
    folder = os.path.join(options.work, f"hgb-{name}.tune")
    if not os.path.exists(graph):
        run([options.hgt, "import",
             os.path.join(here, "..", "data", "manifests", f"hgb-{name}.toml"), "--tables",
             os.path.join(options.data, f"hgb-{name}"), "--out", graph, "--quiet"])
    limit = ["--budget", options.budget] if options.budget else ["--trials", str(options.trials)]
    print(run([options.hgt, "tune", graph, "--task", task, "--run", folder, "--metric", "micro_f1",
               "--repeats", str(options.seeds), "--quiet"] + limit))
    with open(os.path.join(folder, "winner", "test.json"), encoding="utf-8") as file:
        return json.load(file)["metrics"]


def cell(value):
    return f"{100 * value['mean']:.2f} ± {100 * value['deviation']:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("hgt", "data", "work"):
        parser.add_argument(name)
    parser.add_argument("--budget")
    parser.add_argument("--trials", type=int, default=54)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    os.makedirs(options.work, exist_ok=True)
    rows = []
    for name, task, published in DATA_SETS:
        if options.names and name not in options.names:
            continue
        metrics = tune(options, name, task)
        rows.append(f"| {name.upper()} | {cell(metrics['micro_f1'])} | {cell(metrics['macro_f1'])} "
                    f"| {published} |")
    print("| | micro F1 | macro F1 | published HGT |\n| --- | --- | --- | --- |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
