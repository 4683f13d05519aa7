#!/usr/bin/python3
"""Turns sub-graphs that are NumPy archives (sub_*.npz) into files that model_benchmark reads.

    subgraph_to_safetensors.py OUT_FOLDER FILE.npz...
"""
import json
import pathlib
import struct
import sys

import numpy

KINDS = {"float32": "F32", "int64": "I64"}


def write(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        size = array.nbytes
        header[name] = {"dtype": KINDS[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            out.write(array.tobytes())


def convert(source, folder):
    archive = numpy.load(source)
    order = numpy.lexsort((archive["edge_type"], archive["edge_dst"]))  # by target, by relation
    arrays = {name: archive[name].astype(numpy.int64) for name in
              ("count", "rel_src", "rel_dst", "label")}
    arrays["classes"] = archive["num_classes"].reshape(1).astype(numpy.int64)
    for name in ("edge_src", "edge_dst", "edge_type"):
        arrays[name] = archive[name][order].astype(numpy.int64)
    arrays["edge_gap"] = archive["edge_time"][order].astype(numpy.int64) - 120
    arrays["features"] = archive["feat"].astype(numpy.float32)
    write(folder / (pathlib.Path(source).stem + ".safetensors"), arrays)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for source in sys.argv[2:]:
        convert(source, folder)


if __name__ == "__main__":
    main()
