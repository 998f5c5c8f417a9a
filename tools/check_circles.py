#!/usr/bin/env python3
"""No circle of files that call each other, but those that are recursive by nature.

Reads what the object files of a build folder define and want (nm). A file is its source;
kernels that are built once for each instruction set count as one file.
"""
import argparse
import os
import shutil
import subprocess
import sys

import tree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77  # ctest's code for a check that cannot run here

# Circles that may stay, by one file of each: why.
RECURSIVE = {
    "serving_draft.c": "a step is priced with its draft model's, which is priced as any step",
    "lane_commit.c": "a prompt that ends is routed to a replica; to choose one, the steps of "
                     "the replicas that ended by then come to pass",
}


def objects(build: str) -> list:
    """The object files of src/ whose source is still there."""
    found = []
    for folder, _, names in os.walk(os.path.join(build, "src")):
        found += [os.path.join(folder, name) for name in names if name.endswith(".o")]
    return sorted(path for path in found if os.path.isfile(os.path.join(ROOT, source_of(path))))


def source_of(path: str) -> str:
    """src/<layer>/<path>.c of build/src/<layer>/CMakeFiles/<target>.dir/<path>.c.o"""
    before, _, rest = path.partition("/CMakeFiles/")
    layer = before[before.rindex("/src/") + 1:]
    return f"{layer}/{rest.partition('.dir/')[2][:-len('.o')]}"


def symbols(paths: list):
    """(defined: name -> file, wanted: file -> names)"""
    defined, wanted = {}, {}
    done = subprocess.run(["nm", "-A", "-P", *paths], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        file = source_of(path)
        if kind == "U":
            wanted.setdefault(file, set()).add(name)
        elif kind in "TDRBV":
            defined[name] = file
    return defined, wanted


def calls(defined: dict, wanted: dict) -> dict:
    """file -> {other file: a name of it}"""
    graph = {}
    for file, names in wanted.items():
        for name in sorted(names):
            other = defined.get(name, file)
            if other != file:
                graph.setdefault(file, {}).setdefault(other, name)
    return graph


def reached(graph: dict, start: str) -> set:
    seen, left = set(), [start]
    while left:
        for other in graph.get(left.pop(), {}):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def circles(graph: dict) -> list:
    """Groups of files of which each reaches each."""
    reach = {file: reached(graph, file) for file in graph}
    found, done = [], set()
    for file in sorted(graph):
        if file in done or file not in reach[file]:
            continue
        group = [other for other in sorted(reach[file]) if file in reach.get(other, ())]
        done.update(group)
        found.append(group)
    return found


def check(report: tree.Report, graph: dict) -> None:
    used = set()
    for group in circles(graph):
        names = [os.path.basename(file) for file in group]
        reasons = [name for name in names if name in RECURSIVE]
        used.update(reasons)
        if reasons:
            continue
        edges = [f"{os.path.basename(a)} calls {graph[a][b]} of {os.path.basename(b)}"
                 for a in group for b in sorted(graph[a]) if b in group]
        report.fail(group[0], 1, "a circle of files: " + "; ".join(edges))
    for name in sorted(set(RECURSIVE) - used):
        report.fail("tools/check_circles.py", 1, f"{name} is in no circle any more")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release", help="a build folder")
    build = parser.parse_args().build
    paths = objects(build)
    graph = calls(*symbols(paths)) if paths and shutil.which("nm") else {}
    if not graph:
        print(f"circles: {build} holds no objects that nm can read")
        return SKIPPED
    report = tree.Report("circles")
    check(report, graph)
    return report.finish(len(paths))


if __name__ == "__main__":
    sys.exit(main())
