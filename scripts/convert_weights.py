#!/usr/bin/python3
"""pytorch_model.bin -> model.safetensors, which hgt reads; needs nothing but Python.

  scripts/convert_weights.py FOLDER/pytorch_model.bin

Writes model.safetensors beside it. A .bin file is a pickle, which can carry code: here only
tensors, dictionaries and plain values are made of it, and anything else is refused.
"""
import collections
import json
import os
import pickle
import struct
import sys
import zipfile

TYPES = {"FloatStorage": ("F32", 4), "HalfStorage": ("F16", 2), "BFloat16Storage": ("BF16", 2),
         "DoubleStorage": ("F64", 8), "LongStorage": ("I64", 8), "IntStorage": ("I32", 4),
         "ByteStorage": ("U8", 1), "BoolStorage": ("BOOL", 1)}

Storage = collections.namedtuple("Storage", "type size key")
Tensor = collections.namedtuple("Tensor", "storage offset shape")


def rebuild_tensor(storage, offset, shape, stride, *_):
    expected = 1
    for extent, step in reversed(list(zip(shape, stride))):
        if extent != 1 and step != expected:
            raise pickle.UnpicklingError("a tensor that is not contiguous")
        expected *= extent
    return Tensor(storage, offset, list(shape))


def rebuild_parameter(tensor, *_):
    return tensor


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if module == "torch" and name in TYPES:
            return name
        known = {("collections", "OrderedDict"): collections.OrderedDict,
                 ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
                 ("torch._utils", "_rebuild_parameter"): rebuild_parameter}
        if (module, name) in known:
            return known[module, name]
        raise pickle.UnpicklingError(f"{module}.{name}, which is no tensor")

    def persistent_load(self, pid):
        _, kind, key, *_ = pid
        return Storage(*TYPES[kind], key)


def convert(source):
    with zipfile.ZipFile(source) as archive:
        pickled = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickled) != 1:
            raise ValueError("no file of torch.save")
        root = pickled[0][:-len("data.pkl")]
        with archive.open(pickled[0]) as stream:
            state = Unpickler(stream).load()
        tensors = {name: value for name, value in state.items() if isinstance(value, Tensor)}
        header, data, place = {}, [], 0
        for name, tensor in tensors.items():
            count = 1
            for extent in tensor.shape:
                count *= extent
            size = tensor.storage.size
            stored = archive.read(f"{root}data/{tensor.storage.key}")
            values = stored[tensor.offset * size:(tensor.offset + count) * size]
            if len(values) != count * size:
                raise ValueError(f"the values of {name} are cut short")
            header[name] = {"dtype": tensor.storage.type, "shape": tensor.shape,
                            "data_offsets": [place, place + len(values)]}
            data.append(values)
            place += len(values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    target = os.path.join(os.path.dirname(source), "model.safetensors")
    with open(target + ".new", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for values in data:
            out.write(values)
    os.rename(target + ".new", target)
    print(f"{target}: {len(tensors)} tensors")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        convert(sys.argv[1])
    except (OSError, ValueError, KeyError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        sys.exit(f"{sys.argv[1]}: cannot be converted: {error}; in Python, torch.load() and "
                 "safetensors.torch.save_file() convert files that you trust")
