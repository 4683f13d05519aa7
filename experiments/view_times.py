#!/usr/bin/python3
"""How long a person waits for `hgt view`: the table of docs/results.md.

  experiments/view_times.py HGT RUN [QUERIES]

Starts the viewer on a run, requests the first page, then asks QUERIES (20) different questions of
each kind, one after the other. Prints the median and the longest time of each kind. Nodes are
compared over time if the run was trained for a type whose nodes have no time of their own.
"""
import json
import random
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

LETTERS = "abdefgiklmnoprstuv"


def ask(url, path, **parameters):
    query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
    start = time.perf_counter()
    with urllib.request.urlopen(url + path + query, timeout=600) as answer:
        body = answer.read()
    return time.perf_counter() - start, body


def line(what, times):
    if not times:
        return
    print(f"| {what} | {len(times)} | {1000 * statistics.median(times):,.0f} ms "
          f"| {1000 * max(times):,.0f} ms |", flush=True)


def some_ids(url, chance, kind, count):
    """Ids of up to `count` different nodes of a type, found by searching for letters and digits."""
    ids = []
    texts = [one + other for one in LETTERS + "0123456789" for other in ["", *LETTERS, *"0123456789"]]
    chance.shuffle(texts)
    for text in texts:
        _, body = ask(url, "api/search", type=kind, q=text)
        found = [node["id"] for node in json.loads(body)["nodes"] if node["id"] not in ids]
        if found:
            ids.append(chance.choice(found))
        if len(ids) == count:
            break
    return ids


def first_comparison(url, chance, graph, preferred):
    """A trained type that can be asked about at any time, and how long its first answer took: the
    type that the task predicts if possible, otherwise the smallest one."""
    lasting = [entry for entry in graph["nodes"] if not entry["event"] and entry["nodes"] >= 5]
    lasting.sort(key=lambda entry: (entry["type"] != preferred, entry["nodes"]))
    for kind in (entry["type"] for entry in lasting if graph["steps"]):
        one = some_ids(url, chance, kind, 1)
        try:
            if one:
                return kind, ask(url, "api/similar", type=kind, id=one[0], at=graph["steps"][0])[0]
        except urllib.error.HTTPError as refusal:
            if refusal.code != 404:  # the run was not trained for it
                raise
    return None, 0


def time_similarity(url, chance, report, queries):
    kind, first = first_comparison(url, chance, report["graph"], report["task"]["other"])
    if kind is None:
        print("no trained type can be asked about at any time", file=sys.stderr)
        return
    ids = some_ids(url, chance, kind, queries)
    steps = report["graph"]["steps"]
    line(f"similar {kind} nodes, the first question", [first])
    line(f"similar {kind} nodes, a time for the first time",
         [ask(url, "api/similar", type=kind, id=ids[0], at=step)[0] for step in steps[1:][-3:]])
    line(f"similar {kind} nodes, a time that was asked for before",
         [ask(url, "api/similar", type=kind, id=one, at=steps[-1])[0] for one in ids])


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
        node = report["task"]["node"]
        words = ["".join(chance.choice(LETTERS) for _ in range(3)) for _ in range(queries)]
        line("search all types", [ask(url, "api/search", type="", q=word)[0] for word in words])
        line(f"{node}: prediction, neighbors, what if, tree",
             [ask(url, "api/node", type=node, id=one)[0]
              for one in some_ids(url, chance, node, queries)])
        time_similarity(url, chance, report, queries)
        for section in ("confusion", "attention", "balance", "evolution"):
            line(f"section {section}, first time", [ask(url, "api/" + section)[0]])
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20)
