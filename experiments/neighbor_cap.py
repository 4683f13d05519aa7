#!/usr/bin/env python3
"""Which nodes HGSampling draws with --neighbor-cap 50 and without a cap.

  experiments/neighbor_cap.py GRAPH [--hgt build/release/hgt] [--draws 400]

The same few papers are asked about again and again, each time with another random seed. How often
each node is drawn, as a share of the draws of its type, is compared by total variation distance
(half the sum of absolute differences; 0: the same, 1: nothing in common) between cap 50 and no cap,
and, for what chance alone does, between no cap and no cap again. "different" counts the nodes that
were drawn at all, without a cap and with one.
"""
import argparse
import collections
import json
import subprocess


def drawn(arguments, cap, first_seed):
    """Counts of nodes by type, seeds of the sub-graphs excluded."""
    counts = collections.defaultdict(collections.Counter)
    for seed in range(first_seed, first_seed + arguments.draws):
        nodes = [flag for i in range(arguments.papers)
                 for flag in ("--node", f"paper:{arguments.first + i * arguments.step}")]
        command = [arguments.hgt, "sample", arguments.graph, *nodes, "--width", "16", "--depth", "3",
                   "--time-bound", "none", "--neighbor-cap", str(cap), "--seed", str(seed), "--json"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for instance in found["instances"]:
            if instance["hop"] > 0:
                counts[instance["type"]][instance["id"]] += 1
    return counts


def distance(a, b):
    all_a, all_b = sum(a.values()), sum(b.values())
    return sum(abs(a[key] / all_a - b[key] / all_b) for key in {*a, *b}) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--hgt", default="build/release/hgt")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--papers", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="id of the first paper")
    parser.add_argument("--step", type=int, default=2000, help="from one paper's id to the next")
    arguments = parser.parse_args()
    whole = drawn(arguments, 0, 0)
    again = drawn(arguments, 0, arguments.draws)
    capped = drawn(arguments, 50, 2 * arguments.draws)
    print(f"{'type':12}{'different, no cap':>20}{'different, cap 50':>20}{'distance':>10}{'chance':>10}")
    for kind in sorted(whole):
        print(f"{kind:12}{len(whole[kind]):20,}{len(capped[kind]):20,}"
              f"{distance(whole[kind], capped[kind]):10.3f}"
              f"{distance(whole[kind], again[kind]):10.3f}")


if __name__ == "__main__":
    main()
