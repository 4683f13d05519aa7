#!/usr/bin/python3
"""Counts the parameters of all models without the classifier: the table of docs/baselines.md.

  experiments/parameters.py HGT WORK [OPTION ...]

Makes a small graph of the paper's schema in the folder WORK, trains every model for one batch at
the paper's sizes (OPTION: further options of hgt compare; default: --preset paper), and counts the
numbers in each model's file: those of the layers as they are, those of the adaptation layer as if
every type had inputs of the width that the authors' code gives them (1169 numbers).
"""
import json
import math
import os
import struct
import subprocess
import sys

WIDTH = 1169  # 768 of the title, 400 of metapath2vec, 1 of the citations
SIZES = "--hidden 256 --heads 8 --layers 3".split()
QUICK = ("--width 4 --depth 1 --batches 1 --validation-limit 4 --validation-batch-size 4 "
         "--batch-size 4").split()


def run(command):
    print("  " + " ".join(command), file=sys.stderr)
    subprocess.run(command, check=True, stdout=subprocess.PIPE)


def make_graph(hgt, work):
    graph = os.path.join(work, "parameters.graph")
    if os.path.exists(graph):
        return graph
    run([hgt, "generate", "--preset", "small", "--papers", "300", "--features", "8", "--out", graph,
         "--quiet"])
    return graph


def count(run_folder):
    """Numbers of the adaptation layer, and of the layers."""
    with open(os.path.join(run_folder, "seed-1", "best.safetensors"), "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
    adaptation = layers = 0
    for name, tensor in header.items():
        if "adaptation_" in name and name.endswith("bias"):
            adaptation += math.prod(tensor["shape"]) * (WIDTH + 1)
        elif "layer_" in name:
            layers += math.prod(tensor["shape"])
    return adaptation, layers


def main(hgt, work, options):
    os.makedirs(work, exist_ok=True)
    graph = make_graph(hgt, work)
    folder = os.path.join(work, "parameters" + "".join(options) + ".comparison")
    if not os.path.exists(folder):
        run([hgt, "compare", graph, "--task", "paper-venue", "--run", folder, "--quiet"] + SIZES +
            QUICK + options)
    with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
        models = [model["model"] for model in json.load(file)["models"]]
    print("| | adaptation | layers | both |\n| --- | ---: | ---: | ---: |")
    for model in models:
        adaptation, layers = count(os.path.join(folder, model))
        print(f"| {model} | {adaptation:,} | {layers:,} | {(adaptation + layers) / 1e6:.2f} M |")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:] or ["--preset", "paper"])
