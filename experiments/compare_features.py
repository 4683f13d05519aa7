#!/usr/bin/python3
"""What input features contribute: the tables of docs/results.md.

  experiments/compare_features.py HGT DATA WORK [--only NAME ...] [--with VARIANT ...] [--bert MODEL]

HGT: the program. DATA: the folder of the data sets (see data/manifests; word-vectors next to
them). WORK: a folder for graphs and runs; what exists there already is not computed again. NAME:
which tasks, VARIANT: which features; default: all. MODEL: the folder of a BERT, for variants that
begin with "bert", which are made only on request. "VARIANT at PRECISION", also only on request,
stores all features so: "vectors at int8" next to "vectors at float32". Every variant is trained in the same way, with
five seeds. Prints NDCG on validation and test, with mean and deviation over the seeds.
"""
import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys

from compare_models import make_graph, run

BUDGET = ("--hidden 64 --heads 8 --layers 2 --node-vectors 100000 --repeats 5 --width 64 --depth 3 "
          "--batch-size 256 --batches 400 --learning-rate 0.003 --validation-limit 2000 "
          "--validate-every 100").split()
# name, graph, task, types besides paper and author
TASKS = [
    ("ai-venue", "ai-venues", "paper-venue", ["institute"]),
    ("vis-venue", "ieee-vis", "paper-venue", ["field", "keyword", "reference", "institute"]),
    ("vis-field", "ieee-vis", "paper-field", ["venue", "keyword", "reference", "institute"]),
    ("arxiv-L1", "arxiv-cs", "arxiv-L1.toml", ["acm", "venue"]),
    ("arxiv-L2", "arxiv-cs", "paper-field-L2", ["acm", "venue", "field"]),
    ("arxiv-venue", "arxiv-cs", "paper-venue", ["acm", "field"]),
]
# variant -> the options of hgt features after the graph and the task
TEXT = {
    "hashed": ["--encoder", "hashed"],
    "vectors": ["--encoder", "vectors", "--vectors"],
    "fasttext": ["--encoder", "fasttext"],
    "bert": ["--encoder", "bert", "--bert"],
}
VARIANTS = ["as imported"] + [text + walks for text in TEXT if text != "bert"
                              for walks in ("", " + walks")]
VARIANTS += ["fasttext + means", "default"]  # default: nothing but the task is given


def word_vectors(data, work):
    """The vectors of the data sets in GloVe's own format."""
    path = os.path.join(work, "glove.100d.txt")
    if not os.path.exists(path):
        source = os.path.join(data, "word-vectors", "vectors_100d.tsv.gz")
        with gzip.open(source, "rt", encoding="utf-8") as lines, \
                open(path + ".new", "w", encoding="utf-8") as out:
            next(lines)
            for line in lines:
                word, _, vector = line.rstrip("\n").split("\t")
                out.write(f"{word} {vector}\n")
        os.rename(path + ".new", path)
    return path


def file_name(variant):
    return variant.replace(" + ", "-").replace(" ", "-")


def make_variant(args, entry, variant):
    name, data_set, task, types = entry
    imported = make_graph(args.hgt, args.data, args.work, data_set)
    if variant == "as imported":
        return imported
    graph = os.path.join(args.work, f"{name}.{file_name(variant)}.graph")
    if not os.path.exists(graph):
        shutil.rmtree(graph + ".new", ignore_errors=True)
        shutil.copytree(imported, graph + ".new")
        os.rename(graph + ".new", graph)
    variant, _, precision = variant.partition(" at ")
    common = [args.hgt, "features", graph, "--quiet", "--task", task]
    common += ["--precision", precision] if precision else []
    if variant == "default":
        run(common)
        return graph
    text, _, others = variant.partition(" + ")
    encoder = TEXT[text] + ([word_vectors(args.data, args.work)] if text == "vectors" else
                            [args.bert] if text == "bert" else [])
    steps = [["--type", "paper"] + encoder, ["--type", "author", "--mean-of", "paper"]]
    for one in types:
        if others == "walks":
            steps.append(["--type", one, "--metapath2vec", "auto"])
        elif others == "means" and one != "institute":
            steps.append(["--type", one, "--mean-of", "paper"])
    base = "imported"
    for number, step in enumerate(steps, 1):  # each set on top of the one before; the last is used
        run(common + ["--set", f"step-{number}", "--base", base] + step)
        base = f"step-{number}"
    return graph


def scores(args, entry, variant):
    """NDCG on validation and test."""
    name, data_set, task, types = entry
    if task.endswith(".toml"):
        task = os.path.join(os.path.dirname(os.path.abspath(__file__)), task)
    graph = make_variant(args, (name, data_set, task, types), variant)
    folder = os.path.join(args.work, f"{name}.{file_name(variant)}.run")
    if os.path.exists(folder):
        run([args.hgt, "train", "--run", folder, "--resume", "--quiet"])
    else:
        run([args.hgt, "train", graph, "--task", task, "--run", folder, "--quiet"] + BUDGET)
    found = []
    for split in ("validation", "test"):
        result = json.loads(run([args.hgt, "evaluate", folder, "--split", split, "--json",
                                 "--quiet"]))
        found.append(result["metrics"]["ndcg"])
    return found


def print_row(name, split, scores, deviations=None):
    best = max(scores)
    cells = []
    for place, score in enumerate(scores):
        text = f"{score:.3f}" + (f" ± {deviations[place]:.3f}" if deviations else "")
        cells.append(f"**{text}**" if score == best else text)
    print(f"| {name} | {split} | " + " | ".join(cells) + " |", flush=True)


def main(args):
    os.makedirs(args.work, exist_ok=True)
    variants = args.variants or VARIANTS
    print("| | | " + " | ".join(variants) + " |\n| --- | --- |" + " ---: |" * len(variants))
    means = {"validation": [], "test": []}
    for entry in TASKS:
        if args.only and entry[0] not in args.only:
            continue
        found = [scores(args, entry, variant) for variant in variants]
        for place, split in enumerate(means):
            row = [score[place]["mean"] for score in found]
            print_row(entry[0], split, row, [score[place]["deviation"] for score in found])
            means[split].append(row)
    for split, rows in means.items():
        print_row("mean", split, [sum(column) / len(rows) for column in zip(*rows)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hgt")
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--with", nargs="*", dest="variants")
    parser.add_argument("--bert")
    main(parser.parse_args())
