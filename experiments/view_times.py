#!/usr/bin/python3
"""How long a person waits for `hgt view`: the table of docs/results.md.

  experiments/view_times.py HGT RUN [QUERIES]

Starts the viewer on a run, asks for the first page, then QUERIES (20) different questions of each
kind, one after the other. Prints the median and the longest time of each kind.
"""
import json
import random
import signal
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request


def ask(url, path, **parameters):
    query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
    start = time.perf_counter()
    with urllib.request.urlopen(url + path + query, timeout=600) as answer:
        body = answer.read()
    return time.perf_counter() - start, body


def line(what, times):
    print(f"| {what} | {len(times)} | {1000 * statistics.median(times):,.0f} ms "
          f"| {1000 * max(times):,.0f} ms |", flush=True)


def main(hgt, run, queries):
    start = time.perf_counter()
    server = subprocess.Popen([hgt, "view", run, "--port", "0", "--patience", "600"],
                              stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[0]
        ask(url, "")
        _, body = ask(url, "api/report")
        print("| question | asked | median | longest |\n| --- | ---: | ---: | ---: |")
        line("start to first page and its data", [time.perf_counter() - start])
        report = json.loads(body)["runs"][0]
        chance = random.Random(1)
        types = {entry["type"]: entry["nodes"] for entry in report["graph"]["nodes"]}
        node = report["task"]["node"]
        words = ["".join(chance.choice("abdefgiklmnoprstuv") for _ in range(3))
                 for _ in range(queries)]
        line("search all types", [ask(url, "api/search", type="", q=word)[0] for word in words])
        ids = [str(chance.randrange(types[node])) for _ in range(queries)]
        line(f"{node}: prediction, neighbors, what if, tree",
             [ask(url, "api/node", type=node, id=one)[0] for one in ids])
        ids = [str(chance.randrange(types["venue"])) for _ in range(queries)]
        steps = report["graph"]["steps"]
        line("venues alike, a time for the first time",
             [ask(url, "api/similar", type="venue", id=ids[0], at=step)[0] for step in steps[-3:]])
        line("venues alike, a time asked for before",
             [ask(url, "api/similar", type="venue", id=one, at=steps[-1])[0] for one in ids])
        for section in ("confusion", "attention", "balance", "evolution"):
            line(f"section {section}, first time", [ask(url, "api/" + section)[0]])
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20)
