"""Reads every array of a generated and of an imported graph with NumPy alone and compares it with
what the tables said. Usage: numpy_read_back.py PATH_OF_HGT"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

NO_TIME = -2**31
PAPERS = [("P1", "1999", "On graphs"), ("P2", "2003", 'A "quoted" title'), ("x-3", "2003", ""), ("P4", "2010", "Last")]
AUTHORS = ["ann", "bob", "cy"]
WRITES = [("ann", "P1", 1.5), ("bob", "P1", 0.5), ("ann", "P2", 2.0), ("cy", "x-3", -1.0), ("ann", "x-3", 4.0)]
CITES = [("P2", "P1"), ("P4", "P1"), ("P4", "P2")]
FEATURES = {"P1": [1.0, -2.5, 0.0], "P2": [0.25, 3.0, 7.0], "x-3": [0.0, 0.0, 1.0], "P4": [5.0, 6.0, -7.0]}
AUTHOR_FEATURES = [[1.0, -0.5], [0.0, 0.0], [-254.0, 2.0]]
CLASSES = {"P1": ["red"], "P2": ["blue"], "x-3": [], "P4": ["blue", "red"]}

MANIFEST = """
[[nodes]]
type = "paper"
files = "papers.tsv"
id = "id"
name = "title"
time = "year"
labels = { color = "color" }
label_separator = "|"
features = { list = "vector", precision = "float16" }
[[nodes]]
type = "author"
files = "authors.csv"
id = "id"
features = { list = "vector", precision = "int8" }
[[edges]]
type = "writes"
files = "writes.tsv"
source = { type = "author", column = "author" }
target = { type = "paper", column = "paper" }
weight = "share"
[[edges]]
type = "cites"
files = "cites.tsv"
source = { type = "paper", column = "citing" }
target = { type = "paper", column = "cited" }
"""


def write_tables(folder):
    def table(name, header, rows, separator="\t"):
        with open(os.path.join(folder, name), "w") as out:
            out.write(separator.join(header) + "\n")
            out.writelines(separator.join(map(str, row)) + "\n" for row in rows)

    table("papers.tsv", ["id", "year", "title", "color", "vector"],
          [(i, y, t, "|".join(CLASSES[i]), " ".join(map(str, FEATURES[i]))) for i, y, t in PAPERS])
    table("authors.csv", ["id", "vector"],
          [(a, " ".join(map(str, f))) for a, f in zip(AUTHORS, AUTHOR_FEATURES)], ",")
    table("writes.tsv", ["author", "paper", "share"], WRITES)
    table("cites.tsv", ["citing", "cited"], CITES)
    with open(os.path.join(folder, "manifest.toml"), "w") as out:
        out.write(MANIFEST)


class Graph:
    def __init__(self, folder):
        with open(os.path.join(folder, "schema.json")) as f:
            self.schema = json.load(f)
        self.arrays = {}
        for record in self.schema["arrays"]:
            array = np.load(os.path.join(folder, record["file"]), mmap_mode="r")
            assert array.dtype == np.dtype(record["dtype"]), record
            assert list(array.shape) == record["shape"], record
            assert os.path.getsize(os.path.join(folder, record["file"])) == 128 + array.nbytes, record
            self.arrays[record["file"]] = array
        files = {os.path.relpath(os.path.join(d, f), folder)
                 for d, _, names in os.walk(folder) for f in names
                 if os.path.basename(d) != "truth"}  # of a generated graph: described by itself
        assert files == set(self.arrays) | {"schema.json"}, "files and schema.json disagree"

    def offsets(self, prefix):
        """Where each list begins, and where the last one ends."""
        if prefix + "_offsets.npy" in self.arrays:
            return self.arrays[prefix + "_offsets.npy"]
        lengths = self.arrays[prefix + "_lengths.npy"].astype("i8")
        longs = self.arrays[prefix + "_long.npy"]
        assert np.array_equal(longs[:, 0], np.flatnonzero(lengths == 255))
        lengths[longs[:, 0]] += longs[:, 1]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        assert self.arrays[prefix + "_starts.npy"].tolist() == offsets[:-1:64].tolist() + offsets[-1:].tolist()
        return offsets

    def strings(self, prefix):
        offsets, data = self.offsets(prefix), bytes(self.arrays[prefix + "_bytes.npy"])
        return [data[a:b].decode() for a, b in zip(offsets[:-1], offsets[1:])]

    def carried(self, target, into, what):
        """The times or weights of all entries into a type, 0 where a relation carries none."""
        values = self.arrays[f"{target}/incoming_{what}s.npy"]
        carries = np.array([relation[what + "s"] for relation in into])
        degrees = np.diff(self.offsets(target + "/incoming"))
        carries = np.repeat(np.tile(carries, len(degrees) // len(into)), degrees)
        assert len(values) == carries.sum()
        if what == "time":
            low, high = self.schema["time_range"]
            assert values.dtype == ("<i2" if -32767 <= low and high <= 32767 else "<i4")
        result = np.zeros(len(carries), values.dtype)
        result[carries] = values
        if not carries.all():
            own = np.diff(self.offsets(f"{target}/incoming_{what}"))
            assert own.sum() == len(values)
        return result

    def edges(self, position, what="weight"):
        """(source, target, weight or time) of one relation, from the format's description alone."""
        relation = self.schema["relations"][position]
        target = relation["target"]
        into = [r for r in self.schema["relations"] if r["target"] == target]
        slot = into.index(relation)
        offsets = self.offsets(target + "/incoming")
        sources = self.arrays[target + "/incoming_sources.npy"]
        carried = self.carried(target, into, what) if relation[what + "s"] else None
        nodes = next(t["nodes"] for t in self.schema["node_types"] if t["name"] == target)
        assert len(offsets) == nodes * len(into) + 1
        result = []
        for node in range(nodes):
            for at in range(offsets[node * len(into) + slot], offsets[node * len(into) + slot + 1]):
                result.append((int(sources[at]), node, 1.0 if carried is None else float(carried[at])))
        return result


def check_imported(folder):
    graph = Graph(folder)
    ids = [p[0] for p in PAPERS]
    assert graph.strings("paper/id") == ids
    assert graph.strings("author/id") == AUTHORS
    assert graph.strings("paper/name") == [p[2] for p in PAPERS]
    assert graph.arrays["paper/time.npy"].tolist() == [int(p[1]) for p in PAPERS]
    assert np.array_equal(graph.arrays["paper/features.npy"], np.array([FEATURES[i] for i in ids], "<f2"))
    rows = graph.arrays["author/features.npy"]  # the rule in docs/graph-format.md
    values = rows[:, 4:] / np.float32(127) * rows[:, :4].copy().view("<f4")
    assert rows.dtype == "i1" and np.allclose(values, AUTHOR_FEATURES, rtol=0, atol=0.004)
    classes = next(t for t in graph.schema["node_types"] if t["name"] == "paper")["labels"][0]["classes"]
    offsets = graph.offsets("paper/label_color")
    values = graph.arrays["paper/label_color_classes.npy"]
    for n, i in enumerate(ids):
        assert [classes[c] for c in values[offsets[n]:offsets[n + 1]]] == sorted(CLASSES[i]), i
    for kind in ("paper/id", "author/id"):
        slots = graph.arrays[kind + "_index.npy"]
        assert sorted(slots[slots > 0].tolist()) == list(range(1, len(graph.strings(kind)) + 1))
    expected = {
        "writes": [(AUTHORS.index(a), ids.index(p), w) for a, p, w in WRITES],
        "rev_writes": [(ids.index(p), AUTHORS.index(a), w) for a, p, w in WRITES],
        "cites": [(ids.index(a), ids.index(b), 1.0) for a, b in CITES],
        "rev_cites": [(ids.index(b), ids.index(a), 1.0) for a, b in CITES],
    }
    for position, relation in enumerate(graph.schema["relations"]):
        found = graph.edges(position)
        assert sorted(found) == sorted(expected.pop(relation["edge"])), relation
        assert len(found) == relation["edges"]
    assert not expected


def check_generated(folder):
    graph = Graph(folder)
    by_name = {(r["source"], r["edge"], r["target"]): i for i, r in enumerate(graph.schema["relations"])}
    years = graph.arrays["paper/time.npy"]
    cites = graph.edges(by_name["paper", "cites", "paper"])
    assert cites and all(years[citing] > years[cited] for citing, cited, _ in cites)
    for (source, edge, target), position in by_name.items():
        if edge.startswith("rev_"):
            continue
        forward = sorted((s, t) for s, t, _ in graph.edges(position))
        back = sorted((t, s) for s, t, _ in graph.edges(by_name[target, "rev_" + edge, source]))
        assert forward == back, edge
    affiliated = by_name["author", "affiliated", "institute"]
    stays = graph.edges(affiliated, "time")
    assert stays and all(1800 < year < 2100 for _, _, year in stays)
    back = graph.edges(by_name["institute", "rev_affiliated", "author"], "time")
    assert sorted(stays) == sorted((target, source, year) for source, target, year in back)
    assert len(graph.strings("paper/name")) == len(years) and NO_TIME not in years


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        write_tables(folder)
        run = lambda *words: subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)
        run("import", folder + "/manifest.toml", "--out", folder + "/imported", "--quiet", "--strict")
        check_imported(folder + "/imported")
        run("generate", "--preset", "small", "--papers", "300", "--out", folder + "/generated", "--quiet")
        check_generated(folder + "/generated")
    print("2 graphs read with NumPy", np.__version__)


if __name__ == "__main__":
    main(sys.argv[1])
