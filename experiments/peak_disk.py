"""Runs an hgt command that writes a graph, and tells how much disk it took while it ran.
Usage: peak_disk.py GRAPH COMMAND...   (GRAPH: what the command writes, its --out)

Counted are the blocks of all files in GRAPH.partial or GRAPH, and of the files without a name that the
process has open: the sorted runs."""
import os
import subprocess
import sys
import time

SECONDS_BETWEEN_LOOKS = 0.05


def blocks_of_folder(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
            except FileNotFoundError:
                pass  # renamed or removed since
    return total


def blocks_without_a_name(process):
    total = 0
    files = f"/proc/{process}/fd"
    try:
        for number in os.listdir(files):
            status = os.stat(os.path.join(files, number))
            if status.st_nlink == 0:
                total += status.st_blocks * 512
    except (FileNotFoundError, ProcessLookupError):
        pass  # closed, or the process has ended
    return total


def main(graph, command):
    peak = runs = 0
    started = time.time()
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            unnamed = blocks_without_a_name(process.pid)
            named = blocks_of_folder(graph + ".partial") or blocks_of_folder(graph)
            peak = max(peak, unnamed + named)
            runs = max(runs, unnamed)
            time.sleep(SECONDS_BETWEEN_LOOKS)
    if process.returncode != 0:
        sys.exit(process.returncode)
    result = blocks_of_folder(graph)
    print(f"{time.time() - started:.1f} s; peak disk {peak / 1e9:.3f} GB, result {result / 1e9:.3f} GB, "
          f"beside the result {(peak - result) / 1e9:.3f} GB; sorted runs at most {runs / 1e9:.3f} GB")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), sys.argv[2:])
