#!/usr/bin/python3
"""Tables and a manifest for `hgt import` from the arrays that oag_synth.py writes.

  synthetic_tables.py ARRAYS TABLES
  hgt import TABLES/manifest.toml --out synthetic.graph

ARRAYS holds meta.json, year.npy, label.npy, feat_TYPE.npy and eK_src.npy, eK_dst.npy per relation.
Relations whose name starts with rev_ are left out: the import makes them.
"""
import json
import os
import shutil
import sys

import numpy as np


def write_table(path, columns):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t".join(columns) + "\n")
        np.savetxt(file, np.column_stack(list(columns.values())), fmt="%d", delimiter="\t")


def main(arrays, tables):
    os.makedirs(tables, exist_ok=True)
    with open(os.path.join(arrays, "meta.json"), encoding="utf-8") as file:
        meta = json.load(file)
    manifest = ['name = "synthetic"', 'time_unit = "year"']
    for kind in meta["types"]:
        columns = {"id": np.arange(meta["num_nodes"][kind])}
        manifest += ["[[nodes]]", f'type = "{kind}"', f'files = "{kind}.tsv"', 'id = "id"',
                     f'features = {{ npy = "{kind}.npy" }}']
        if kind == "paper":
            columns["year"] = np.load(os.path.join(arrays, "year.npy"))
            columns["topic"] = np.load(os.path.join(arrays, "label.npy"))
            manifest += ['time = "year"', 'labels = { topic = "topic" }']
        write_table(os.path.join(tables, kind + ".tsv"), columns)
        shutil.copyfile(os.path.join(arrays, f"feat_{kind}.npy"),
                        os.path.join(tables, kind + ".npy"))
    for number, relation in enumerate(meta["relations"]):
        if relation["rel"].startswith("rev_"):
            continue
        table = f"e{number}.tsv"
        write_table(os.path.join(tables, table),
                    {"source": np.load(os.path.join(arrays, f"e{number}_src.npy")),
                     "target": np.load(os.path.join(arrays, f"e{number}_dst.npy"))})
        manifest += ["[[edges]]", f'type = "{relation["rel"]}"', f'files = "{table}"',
                     f'source = {{ type = "{relation["src"]}", column = "source" }}',
                     f'target = {{ type = "{relation["dst"]}", column = "target" }}']
    with open(os.path.join(tables, "manifest.toml"), "w", encoding="utf-8") as file:
        file.write("\n".join(manifest) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
