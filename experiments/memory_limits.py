#!/usr/bin/python3
"""Trains on a graph with less memory than the graph is large, from a cold start.

  experiments/memory_limits.py HGT GRAPH WORK [--task TASK] [--limits 1 2 4 8] [--batches N]
                               [-- OPTIONS OF HGT TRAIN ...]

HGT: the program. GRAPH: a graph. WORK: a folder for runs. Each limit is a number of GB; 0 stands
for none, which is always measured first. Before each training the page cache is dropped; then the
training runs in a control group of its own, whose limit counts the pages of the graph as well. The
table has seconds per batch, also in the second half of the run alone, the share of waiting, what
was read from the disk, page faults that waited for it and the peak of the process. Needs root and
control groups (version 1 or 2); where they are missing, it says so and does nothing.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time

GIGABYTE = 1 << 30


class ControlGroup:
    """A control group with a memory limit, for one child process."""

    def __init__(self, limit):
        if os.path.isdir("/sys/fs/cgroup/memory"):
            with open("/proc/self/cgroup", encoding="ascii") as file:
                own = next(line.split(":", 2)[2].strip() for line in file if ":memory:" in line)
            parent, name = "/sys/fs/cgroup/memory" + own, "memory.limit_in_bytes"
            if not os.path.isdir(parent):
                parent = "/sys/fs/cgroup/memory"
        else:
            parent, name = "/sys/fs/cgroup", "memory.max"
        self.folder = os.path.join(parent, f"hgt-{os.getpid()}-{limit}")
        os.mkdir(self.folder)
        if limit > 0:
            self.write(name, str(limit * GIGABYTE))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(text)

    def enter(self):
        self.write("cgroup.procs", str(os.getpid()))

    def remove(self):
        os.rmdir(self.folder)


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


def train(options, limit, extra):
    folder = os.path.join(options.work, f"limit-{limit}.run")
    shutil.rmtree(folder, ignore_errors=True)
    group = ControlGroup(limit)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        # Without this, checking the whole graph once would warm it up.
        drop_caches()
        start = time.time()
        subprocess.run(
            [options.hgt, "train", options.graph, "--task", options.task, "--run", folder,
             "--batches", str(options.batches), "--validate-every", str(options.batches // 2),
             "--validation-limit", "256", "--quiet"] + extra,
            check=True, stdout=subprocess.DEVNULL, preexec_fn=group.enter, timeout=options.timeout)
        seconds = time.time() - start
    except subprocess.TimeoutExpired:
        return f"| {limit or 'none'} | more than {options.timeout} s | | | | | |"
    finally:
        group.remove()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(folder, "training.json"), encoding="utf-8") as file:
        training = json.load(file)
    with open(os.path.join(folder, "seed-1", "log.jsonl"), encoding="utf-8") as file:
        log = [json.loads(line) for line in file]
    batches = training["seeds"][0]["batches"]
    late = (log[-1]["seconds"] - log[0]["seconds"]) / (log[-1]["step"] - log[0]["step"])
    return (f"| {limit or 'none'} | {seconds:.1f} s "
            f"| {training['seeds'][0]['seconds_per_batch']:.3f} s | {late:.3f} s "
            f"| {100 * log[-1]['waiting']:.0f}% "
            f"| {(after.ru_inblock - before.ru_inblock) * 512 / batches / 1e6:.1f} MB "
            f"| {(after.ru_majflt - before.ru_majflt) / batches:.0f} "
            f"| {training['peak_memory_mb']:.0f} MB |")


def main():
    words = sys.argv[1:]
    extra = []
    if "--" in words:
        at = words.index("--")
        words, extra = words[:at], words[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("hgt", "graph", "work"):
        parser.add_argument(name)
    parser.add_argument("--task", default="paper-venue")
    parser.add_argument("--limits", type=int, nargs="+", default=[8, 4, 2, 1])
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--timeout", type=int, default=900)
    options = parser.parse_args(words)
    try:
        ControlGroup(0).remove()
        drop_caches()
    except OSError as error:
        sys.exit(f"skipped: no control groups or no rights here ({error})")
    os.makedirs(options.work, exist_ok=True)
    print("| limit in GB | whole run | per batch | per batch, second half, with its validation "
          "| waiting | read per batch | faults per batch | peak |")
    print("| ---: " * 8 + "|")
    for limit in [0] + options.limits:
        print(train(options, limit, extra), flush=True)


if __name__ == "__main__":
    main()
