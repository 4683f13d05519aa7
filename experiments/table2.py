#!/usr/bin/python3
"""Table 2 of the paper by its protocol, on real data and on the generated graph.

  experiments/table2.py HGT DATA WORK [--batches N] [NAME ...]

HGT: the program. DATA: the folder of the data sets (see data/manifests). WORK: a folder for graphs
and comparisons; what exists there already is not computed again, and a comparison that was stopped
is continued. NAME: small-venue, ai-venue, arxiv-L2, ai-authors, and with a few models only
vis-venue, vis-field; default: all. As in the paper, all models have 256 hidden units, 8 heads and 3
layers, five seeds and the same sub-graphs, drawn by HGSampling (128 x 6); features are those of the
default recipe. --batches (300) says how long they are trained, which the paper does for 12,800.
"""
import argparse
import os

from compare_models import make_graph, run, summary_rows

PAPER = ("--hidden 256 --heads 8 --layers 3 --width 128 --depth 6 --node-vectors 100000 "
         "--repeats 5").split()
PAPERS = "--batch-size 256 --validation-limit 2000 --learning-rate 0.003".split()
AUTHORS = "--batch-size 64 --validation-batch-size 64 --learning-rate 0.002".split()
FEW = "--models mlp,rgcn,han,hgt-no-rte,hgt".split()
# name, graph, task, options
EXPERIMENTS = [
    ("small-venue", "small", "paper-venue", PAPERS),
    ("ai-venue", "ai-venues", "paper-venue", PAPERS),
    ("arxiv-L2", "arxiv-cs", "paper-field-L2", PAPERS),
    ("ai-authors", "ai-venues", "ai-authors.toml", AUTHORS),
    ("vis-venue", "ieee-vis", "paper-venue", PAPERS + FEW),
    ("vis-field", "ieee-vis", "paper-field", PAPERS + FEW),
]


def compare(options, name, data_set, task, training):
    if task.endswith(".toml"):
        task = os.path.join(os.path.dirname(os.path.abspath(__file__)), task)
    folder = os.path.join(options.work, name + ".comparison")
    if os.path.exists(os.path.join(folder, "comparison.json")):
        return run([options.hgt, "compare", "--run", folder, "--resume", "--quiet"])
    graph = make_graph(options.hgt, options.data, options.work, data_set)
    run([options.hgt, "features", graph, "--task", task, "--set", name, "--quiet"])
    return run([options.hgt, "compare", graph, "--task", task, "--features", name, "--run", folder,
                "--quiet", "--threads", "1", "--batches", str(options.batches),
                "--validate-every", str(options.batches // 4)] + PAPER + training)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("hgt", "data", "work"):
        parser.add_argument(name)
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    os.makedirs(options.work, exist_ok=True)
    lines = []
    titles = ""
    for entry in EXPERIMENTS:
        if options.names and entry[0] not in options.names:
            continue
        print(f"## {entry[0]}\n\n{compare(options, *entry)}", flush=True)
        models, rule, rows = summary_rows(options.work, entry[0])
        if models != titles:
            titles = models
            lines += ["", titles, rule]
        lines += rows
    print("## all\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
