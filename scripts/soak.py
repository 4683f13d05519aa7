#!/usr/bin/python3
"""Lets hgt work for hours and watches its memory: scripts/soak.py [HOURS (24)] [HGT]

One process trains without an end, another one serves `hgt view` and is asked a few questions a
second, among them wrong ones. Once a minute the resident memory of both is written down
(build/soak/memory.tsv). Fails if a process ends, if an answer is wrong, or if the memory of the
last quarter is more than 5 % (and 16 MB) above that of the second: the first one fills caches.
"""
import http.client
import json
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
import urllib.parse

GROWTH, SLACK = 1.05, 16 << 20
MODEL = ["--hidden", "64", "--heads", "4", "--layers", "2", "--width", "64", "--depth", "4",
         "--learning-rate", "0.001"]


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class Visitor:
    """Asks a viewer about random nodes; what it may answer is known."""

    def __init__(self, address):
        self.host = urllib.parse.urlsplit(address).netloc
        self.chance = random.Random(1)
        self.answers = 0

    def ask(self, path, allowed=(200,)):
        connection = http.client.HTTPConnection(self.host, timeout=120)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status not in allowed:
            sys.exit(f"soak: {path}: {answer.status} {body[:200]!r}")
        self.answers += 1
        return body

    def visit(self, papers):
        paper = self.chance.randrange(papers)
        json.loads(self.ask(f"/api/node?type=paper&id={paper}"))
        json.loads(self.ask("/api/search?type=&q=" + self.chance.choice("abdegiklmno")))
        self.ask("/")
        self.ask("/api/report")
        self.ask("/api/node?type=paper&id=nobody", allowed=(400, 404))
        self.ask("/api/" + "x" * self.chance.randrange(1, 5000), allowed=(400, 404, 414))


def judge(name, memory):
    quarter = len(memory) // 4
    if quarter == 0:
        sys.exit("soak: too short to judge memory; let it run for several minutes")
    before, after = (statistics.median(memory[quarter:2 * quarter]), statistics.median(memory[-quarter:]))
    print(f"{name}: {before / 1e6:,.1f} MB in the second quarter, {after / 1e6:,.1f} MB in the last")
    return after <= max(GROWTH * before, before + SLACK)


def watch(processes, visitor, papers, hours, work):
    memory = {name: [] for name in processes}
    end, minute = time.monotonic() + 3600 * hours, time.monotonic() + 60
    with open(work / "memory.tsv", "w", encoding="ascii") as table:
        print("minute", *processes, "answers", sep="\t", file=table)
        while time.monotonic() < end:
            visitor.visit(papers)
            time.sleep(1)
            for name, process in processes.items():
                if process.poll() is not None:
                    sys.exit(f"soak: {name} ended with {process.returncode}: {work}/{name}.log")
            if time.monotonic() < minute:
                continue
            minute += 60
            for name, process in processes.items():
                memory[name].append(resident(process))
            print(len(memory["train"]), *(values[-1] for values in memory.values()), visitor.answers,
                  sep="\t", file=table, flush=True)
    return memory


def main(hours, hgt):
    work = pathlib.Path("build/soak")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    papers = 20000
    graph, served = str(work / "soak.graph"), str(work / "served.run")
    subprocess.run([hgt, "generate", "--preset", "small", "--out", graph, "--quiet"], check=True)
    subprocess.run([hgt, "train", graph, "--task", "paper-venue", "--run", served, *MODEL,
                    "--batches", "50", "--quiet"], check=True)
    with open(work / "train.log", "w", encoding="utf-8") as log:
        train = subprocess.Popen(
            [hgt, "train", graph, "--task", "paper-venue", "--run", str(work / "endless.run"), *MODEL,
             "--batches", "100000000", "--checkpoint-every", "60", "--quiet"], stdout=log, stderr=log)
    with open(work / "view.log", "w", encoding="utf-8") as log:
        view = subprocess.Popen([hgt, "view", served, "--port", "0", "--threads", "1"], stdout=subprocess.PIPE,
                                stderr=log, text=True)
    try:
        address = view.stdout.readline().split()
        if not address:
            sys.exit(f"soak: hgt view did not start: {work}/view.log")
        visitor = Visitor(address[0])
        memory = watch({"train": train, "view": view}, visitor, papers, hours, work)
    finally:
        for process in (train, view):
            process.send_signal(signal.SIGINT)
            process.wait()
    flat = [judge(name, values) for name, values in memory.items()]
    print(f"{visitor.answers:,} answers in {hours:g} hours")
    sys.exit(0 if all(flat) else "soak: memory grows")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 24.0,
         sys.argv[2] if len(sys.argv) > 2 else "build/release/hgt")
