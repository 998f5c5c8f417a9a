#!/usr/bin/env python3
"""Constants of serving that were fitted: ranges by engine, and errors with a source left out.

    serving_fit.py --ridge PROGRAM FILE...            tables of docs/accuracy.md, and ranges
    serving_fit.py --ridge PROGRAM --leave-out FILE...

FILEs hold measured serving, as `ridge validate` reads it. A constant is a fact of the source
serving-fit-2026 in data/engines and data/chips. With a source left out each constant is
chosen anew, out of 0.6, 0.8, 1, 1.25 and 1.6 times its own value, by the errors of the other
sources: the mean over them, and over their metrics, of the median |log(predicted /
measured)|; one that moves no other source is taken as nothing. Then the source is predicted.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import program

FIT = "serving-fit-2026"
FOLDERS = ("engines", "chips")
FACTORS = (0.6, 0.8, 1.0, 1.25, 1.6)
METRICS = {"ttft_s": "TTFT", "tpot_s": "TPOT", "tokens_per_s": "tokens/s"}
SHARES = ("loaded", "experts_share")  # at most one; one is nothing
ROWS_LEAST = 5


def facts_of(node, path=()):
    """Paths of facts of the fit in a file."""
    if isinstance(node, dict):
        if node.get("source") == FIT and "value" in node:
            yield path
        for key, value in node.items():
            yield from facts_of(value, (*path, key))


def load() -> dict:
    """{(folder, file): object} of the files with a fitted constant."""
    found = {}
    for folder in FOLDERS:
        at = os.path.join(program.ROOT, "data", folder)
        for name in sorted(os.listdir(at)):
            with open(os.path.join(at, name), encoding="utf-8") as f:
                value = json.load(f)
            if any(True for _ in facts_of(value)):
                found[(folder, name)] = value
    return found


def fact_at(files: dict, place: tuple) -> dict:
    at = files[place[0]]
    for step in place[1]:
        at = at[step]
    return at


def constants(files: dict) -> list:
    """Constants as places of facts; ranges are counted, not fitted."""
    places = [(file, path) for file, value in files.items() for path in facts_of(value)]
    return [p for p in places if not p[1][-1].startswith(("ttft_", "tpot_", "range_"))]


def predictions(ridge: str, rows: list, files: dict) -> list:
    """Rows of the reports of all FILEs."""
    found = []
    with tempfile.TemporaryDirectory() as data:
        for (folder, name), value in files.items():
            os.makedirs(os.path.join(data, folder), exist_ok=True)
            with open(os.path.join(data, folder, name), "w", encoding="utf-8") as f:
                json.dump(value, f)
        for path in rows:
            done = subprocess.run(
                [ridge, "validate", path, "--rows", "--json", "--data", data],
                capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"serving_fit: {done.stderr.strip()}")
            found += json.loads(done.stdout)["row"]
    return [r for r in found if r["drafting"] not in ("proven", "twin")]


def logs(rows: list, group) -> dict:
    """{group: {metric: [log(predicted / measured)]}}"""
    found = {}
    for row in rows:
        for metric in METRICS:
            if metric in row:
                ratio = row[metric]["predicted"] / row[metric]["measured"]
                found.setdefault(group(row), {}).setdefault(metric, []).append(
                    math.log(ratio))
    return found


def source_of(row: dict) -> str:
    return row["source"]


def loss(metrics: dict) -> float:
    return statistics.mean(statistics.median(abs(v) for v in values)
                           for values in metrics.values())


def percent(values: list) -> str:
    if not values:
        return "- | -"
    middle = statistics.median(abs(math.exp(v) - 1) for v in values)
    return f"{100 * middle:.1f} % | {len(values)}"


def table(title: str, groups: dict) -> None:
    print(f"\n| {title} | TTFT | rows | TPOT | rows | tokens/s | rows |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, metrics in sorted(groups.items()):
        if max(len(v) for v in metrics.values()) >= ROWS_LEAST:
            print(f"| {name} | " + " | ".join(percent(metrics.get(m, [])) for m in METRICS)
                  + " |")


def ranges(rows: list) -> None:
    """Percentiles of measured / expected, of rows that state enough, for data/engines."""
    print("\nranges: engine, rows, TTFT low high, TPOT low high")
    for engine, metrics in sorted(logs([r for r in rows if r["complete"]],
                                       lambda r: r["engine"]).items()):
        ends = []
        for metric in ("ttft_s", "tpot_s"):
            values = sorted(-v for v in metrics.get(metric, []))
            if len(values) >= 10:
                tenths = statistics.quantiles(values, n=10)
                ends += [round(math.exp(tenths[0]), 2), round(math.exp(tenths[-1]), 2)]
        if len(ends) == 4:
            print(engine, len(metrics["tpot_s"]), *ends)


def choose(tried: dict, own: dict, source: str, neutral: float) -> float:
    """The value that the other sources want; neutral where they do not care."""
    others = [s for s in own if s != source
              and any(abs(loss(t[s]) - loss(own[s])) > 1e-9 for t in tried.values())]
    if not others:
        return neutral
    return min(tried, key=lambda v: (statistics.mean(loss(tried[v][s]) for s in others), v))


def leave_out(ridge: str, paths: list, files: dict) -> None:
    places = constants(files)
    own = logs(predictions(ridge, paths, files), source_of)
    shipped = {p: fact_at(files, p)["value"] for p in places}
    tried = {}
    for p in places:
        most = 1.0 if p[1][-1] in SHARES else math.inf
        tried[p] = {}
        for value in sorted({min(most, shipped[p] * f) for f in FACTORS}):
            fact_at(files, p)["value"] = value
            tried[p][value] = (own if value == shipped[p] else
                               logs(predictions(ridge, paths, files), source_of))
        fact_at(files, p)["value"] = shipped[p]
    print("\n| source | TTFT | left out | TPOT | left out | tokens/s | left out | rows |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for source, metrics in sorted(own.items()):
        for p in places:
            neutral = 1.0 if p[1][-1] in SHARES else 0.0
            fact_at(files, p)["value"] = choose(tried[p], own, source, neutral)
        there = logs(predictions(ridge, paths, files), source_of)[source]
        cells = [f"{percent(v).split(' | ')[0]}" for m in METRICS
                 for v in (metrics.get(m, []), there.get(m, []))]
        print(f"| {source} | " + " | ".join(cells)
              + f" | {max(len(v) for v in metrics.values())} |", flush=True)
    for p in places:
        fact_at(files, p)["value"] = shipped[p]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("rows", nargs="+")
    options = parser.parse_args()
    files = load()
    if options.leave_out:
        leave_out(options.ridge, options.rows, files)
        return 0
    rows = predictions(options.ridge, options.rows, files)
    whole = [r for r in rows if r["complete"]]
    for what, some in (("state enough", whole), ("all", rows)):
        for key in ("chip", "engine"):
            table(f"{key}, rows that {what}" if some is whole else f"{key}, all rows",
                  logs(some, lambda r, key=key: r[key]))
    table("source", logs(rows, source_of))
    ranges(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
