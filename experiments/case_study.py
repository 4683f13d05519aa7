#!/usr/bin/python3
"""Conferences over time, and where attention goes: the paper's Table 3 and Figure 5 on real data
and on the generated graph, as in docs/results.md.

  experiments/case_study.py HGT DATA WORK [NAME ...]

HGT: the program. DATA: the folder of the data sets. WORK: a folder for graphs and runs; what
exists there already is not computed again, and a training that was stopped is continued. NAME:
which graphs; default: all.

Papers of real sets are represented by their titles (fastText), authors by the mean of their papers;
venues have no vectors of their own. Three models are trained with different seeds, on Paper-Venue
or, where the truth about topics is planted, on Paper-Field; the table shows the first one, and its
last column says how many of the three nearest conferences the three models have in common, on
average over pairs of models. Below it are the validation losses of these models and of the same
models without RTE: unless the former are lower, the models do not use the time. Of the generated
graph there is also the share of a conference's three nearest that have its field (of level 1) in
that year, on average over all conferences, next to the same by the fields of the last year, which
is lower where vectors tell of their own time, and to the share of all others.

At the end, the attention trees of papers and of authors: those of the first model, and for each
model the path that comes first of those that leave every node.
"""
import itertools
import json
import os
import sys

from compare_models import make_graph, run

BUDGET = ("--hidden 64 --heads 4 --width 64 --depth 4 --batch-size 256 --batches 1200 "
          "--learning-rate 0.001 --validation-limit 2000 --validate-every 200 --node-vectors 0 "
          "--quiet").split()
# graph; task, layers (as many as it takes for one to be trained for venues: papers of ai-venues
# meet through authors only) and what else training is told; conferences, how they are compared
STUDIES = [
    # All of its venues are conferences.
    ("ai-venues", ["--task", "paper-venue", "--layers", "4"], ["nips", "icml", "cvpr", "icra"], []),
    # The three most cited conferences. What a paper's other fields say, it need not read in venues.
    ("small", ["--task", "paper-field-L2", "--also-hide", "in_L0,in_L1,in_L3,in_L4,in_L5",
               "--layers", "3"], ["76", "80", "38"], ["--where", "kind=conference"]),
    # Its table calls journals and workshops so, and conferences nothing.
    ("acl-anthology", ["--task", "acl-venue.toml", "--layers", "3"],
     ["ACL", "EMNLP", "COLING", "LREC"], ["--where", "kind=", "--among", "30"]),
]
TIMES = [2000, 2010, 2019]  # all of these graphs end in 2019
SEEDS = (1, 2, 3)


def featured_graph(hgt, data, work, name):
    """The papers of the generated graph have features already."""
    graph = make_graph(hgt, data, work, name)
    base = "imported"
    if name != "small":
        base = "made"
        run([hgt, "features", graph, "--set", base, "--type", "paper", "--from", "title",
             "--quiet"])
    run([hgt, "features", graph, "--set", "authors", "--base", base, "--type", "author",
         "--mean-of", "paper", "--quiet"])
    return graph


def trained(hgt, graph, folder, options):
    here = os.path.dirname(os.path.abspath(__file__))
    options = [os.path.join(here, word) if word.endswith(".toml") else word for word in options]
    if not os.path.exists(folder):
        run([hgt, "train", graph, "--run", folder] + options + BUDGET)
    elif not os.path.exists(os.path.join(folder, "training.json")):
        run([hgt, "train", "--run", folder, "--resume", "--quiet"])
    return folder


def loss(folder):
    with open(os.path.join(folder, "training.json"), encoding="utf-8") as file:
        return f"{json.load(file)['seeds'][0]['validation_loss']:.3f}"


# --- conferences over time ---


def similar(hgt, folder, venues, how, top=5):
    words = [hgt, "similar", folder, "--at", ",".join(map(str, TIMES)), "--samples", "32", "--top",
             str(top), "--json", "--quiet"] + how
    for venue in venues:
        words += ["--node", "venue:" + venue]
    return json.loads(run(words))


def shared_of_three(rows):
    tops = [{other["id"] for other in row["nearest"][:3]} for row in rows]
    pairs = list(itertools.combinations(tops, 2))
    return sum(len(a & b) for a, b in pairs) / len(pairs)


def print_table(answers):
    print(f"Among {answers[0]['among']}; outputs of layer {answers[0]['layer']}.\n")
    print("| conference | time | most similar conferences | of three |")
    print("| --- | --- | --- | ---: |")
    for rows in zip(*(answer["nodes"] for answer in answers)):
        first = rows[0]
        nearest = ", ".join(other["name"] for other in first["nearest"])
        absent = "" if first["is_there"] else " (not in the data by then)"
        print(f"| {first['name']}{absent} | {first['time']} | {nearest} | "
              f"{shared_of_three(rows):.1f} |", flush=True)


def planted_fields(graph):
    """[venues][times] the field of level 1 to which the venue's main topic belongs."""
    import numpy

    topic, field = (numpy.load(os.path.join(graph, "truth", name + ".npy"))
                    for name in ("venue_topic", "topic_l1"))
    first_year = TIMES[-1] + 1 - topic.shape[1]
    return [[int(field[row[time - first_year]]) for time in TIMES] for row in topic]


def print_truth(hgt, graph, kinds, how):
    """kinds: (name, runs) pairs. At the last time, all conferences are compared."""
    fields = planted_fields(graph)
    everyone = similar(hgt, kinds[0][1][0], ["0"], how, 1000)["nodes"]
    ids = ["0"] + [other["id"] for other in everyone[-1]["nearest"]]
    last = len(TIMES) - 1
    print("\n| three nearest of the same field | " + " | ".join(map(str, TIMES)) + " |")
    print("| --- |" + " ---: |" * len(TIMES))
    for name, runs in kinds:
        answers = [similar(hgt, folder, ids, how, 1000)["nodes"] for folder in runs]
        for what, years in (("", range(last + 1)), (f", by the fields of {TIMES[last]}",
                                                    [last] * (last + 1))):
            print(f"| {name}{what} | " + " | ".join(
                ", ".join(f"{same_field(nodes, fields, time, year, 3):.2f}" for nodes in answers)
                for time, year in enumerate(years)) + " |", flush=True)
    print("| all that are compared | " + " | ".join(
        f"{same_field(answers[0], fields, time, time, None):.2f}"
        for time in range(last + 1)) + " |")


def same_field(nodes, fields, time, year, top):
    """Of the nearest at a time: how many have the conference's field of a year."""
    shares = []
    for row in nodes:
        if row["time"] != str(TIMES[time]) or not row["is_there"]:
            continue
        own = fields[int(row["id"])][year]
        others = [fields[int(other["id"])][year] == own for other in row["nearest"][:top]]
        shares.append(sum(others) / len(others))
    return sum(shares) / len(shares)


# --- where attention goes ---


def paths(branches, form, above, product):
    """(attention, path) of all that never stay at a node."""
    for branch in branches:
        if branch["relation"] == "self":
            continue
        steps = above + [f"{branch['type']} ({branch['relation']})"]
        attention = branch["attention"]
        if form == "means":
            attention *= product
        if branch["children"]:
            yield from paths(branch["children"], form, steps, attention)
        else:
            yield attention, " <- ".join(steps)


def print_trees(hgt, runs, node_type):
    words = ["--type", node_type, "--form", "both", "--quiet"]
    print("\n```\n" + run([hgt, "explain", runs[0], "--top", "3"] + words).replace(
        runs[0], os.path.basename(runs[0])) + "```\n")
    for form in ("shares", "means"):
        first = []
        for folder in runs:
            trees = json.loads(run([hgt, "explain", folder, "--top", "1000", "--json"] + words))
            attention, path = max(paths(trees[form]["children"], form, [node_type], 1))
            first.append(f"{path} {attention:.3f}")
        print(f"- {form}, first path without self in each model: " + "; ".join(first), flush=True)


def main(hgt, data, work, names):
    os.makedirs(work, exist_ok=True)
    for name, training, venues, how in STUDIES:
        if names and name not in names:
            continue
        graph = featured_graph(hgt, data, work, name)
        runs, without = (
            [trained(hgt, graph, os.path.join(work, f"{name}{kind}-{seed}.run"),
                     training + ["--seed", str(seed)] + more) for seed in SEEDS]
            for kind, more in (("", []), ("-no-rte", ["--no-rte"])))
        print(f"\n**{name}**\n")
        print_table([similar(hgt, folder, venues, how) for folder in runs])
        print(f"\nvalidation loss {', '.join(map(loss, runs))}; without RTE "
              f"{', '.join(map(loss, without))}", flush=True)
        if name == "small":
            print_truth(hgt, graph, [("HGT, three seeds", runs), ("without RTE", without)], how)
        for node_type in ("paper", "author"):
            print_trees(hgt, runs, node_type)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
