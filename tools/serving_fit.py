#!/usr/bin/env python3
"""Constants of serving that were fitted: ranges by engine, and errors with a source left out.

    serving_fit.py --ridge PROGRAM FILE...              ranges of data/engines
    serving_fit.py --ridge PROGRAM --leave-out FILE...  the table of docs/accuracy.md

accuracy.py --serving makes the other tables.

FILEs hold measured serving, as `ridge validate` reads it. A constant is a fact of the source
serving-fit-2026 in data/engines and data/chips. With a source left out each constant is
chosen anew, out of 0.6, 0.8, 1, 1.25 and 1.6 times its own value, by the errors of the other
sources: the mean over them, and over their metrics, of the median |log(predicted /
measured)|; one that moves no other source is taken as nothing. Then the source is predicted.
Only rows that a constant can move are run for it: those of its engine or chip, and of what
has these as a base.
"""
import argparse
import csv
import io
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
SHARES = ("loaded", "experts_share", "experts_share_fp8", "experts_share_fp4",
          "experts_share_narrow", "matmul_share")  # at most one; one is nothing
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


def read_rows(paths: list) -> list:
    """[(heading, row as text, id)] of all FILEs; a heading of None: JSON Lines."""
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if text.lstrip().startswith("{"):
            lines = [line for line in text.splitlines() if line.strip()]
            found += [(None, line, json.loads(line)["id"]) for line in lines]
        else:
            lines = text.splitlines()
            at = next(csv.reader(io.StringIO(lines[0]))).index("id")
            found += [(lines[0], line, next(csv.reader(io.StringIO(line)))[at])
                      for line in lines[1:] if line.strip()]
    return found


def write_rows(rows: list, folder: str) -> list:
    """Files of some rows, one for each heading."""
    paths = []
    for heading in sorted({r[0] for r in rows}, key=str):
        paths.append(os.path.join(folder, f"rows-{len(paths)}"))
        with open(paths[-1], "w", encoding="utf-8") as f:
            f.write("" if heading is None else heading + "\n")
            f.writelines(line + "\n" for own, line, _ in rows if own == heading)
    return paths


def write_data(files: dict, folder: str) -> None:
    for (kind, name), value in files.items():
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        with open(os.path.join(folder, kind, name), "w", encoding="utf-8") as f:
            json.dump(value, f)


def predictions(ridge: str, rows: list, files: dict) -> list:
    """The report's rows for these rows, but for those that drafted."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        write_data(files, folder)
        for path in write_rows(rows, folder):
            done = subprocess.run(
                [ridge, "validate", path, "--rows", "--json", "--data", folder],
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


def table(title: str, groups: dict) -> str:
    lines = [f"| {title} | TTFT | rows | TPOT | rows | tokens/s | rows |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, metrics in sorted(groups.items()):
        if max(len(v) for v in metrics.values()) >= ROWS_LEAST:
            lines.append(f"| {name} | "
                         + " | ".join(percent(metrics.get(m, [])) for m in METRICS) + " |")
    return "\n".join(lines) + "\n"


def ranges(rows: list) -> list:
    """[(engine, rows, TTFT low, high, TPOT low, high)]: the 10th and 90th percentile of
    measured / expected over rows that state enough, for data/engines."""
    found = []
    for engine, metrics in sorted(logs([r for r in rows if r["complete"]],
                                       lambda r: r["engine"]).items()):
        ends = []
        for metric in ("ttft_s", "tpot_s"):
            values = sorted(-v for v in metrics.get(metric, []))
            if len(values) >= 10:
                tenths = statistics.quantiles(values, n=10)
                ends += [round(math.exp(tenths[0]), 2), round(math.exp(tenths[-1]), 2)]
        if len(ends) == 4:
            found.append((engine, len(metrics["tpot_s"]), *ends))
    return found


def heirs(folder: str, name: str) -> set:
    """Names of an engine or chip and of all that have it as their base."""
    at = os.path.join(program.ROOT, "data", folder)
    base = {}
    for file in os.listdir(at):
        with open(os.path.join(at, file), encoding="utf-8") as f:
            value = json.load(f)
        base[value["name"]] = value.get("base")
    found = {name}
    while True:
        more = {n for n, b in base.items() if b in found} - found
        if not more:
            return found
        found |= more


def movable(place: tuple, report: list) -> set:
    """Ids of the rows that a constant can move."""
    (folder, file), _ = place
    names = heirs(folder, file[:-len(".json")])
    key = "engine" if folder == "engines" else "chip"
    return {r["id"] for r in report if r[key] in names}


def neutral_of(place: tuple) -> float:
    return 1.0 if place[1][-1] in SHARES else 0.0


def choose(tried: dict, source: str, neutral: float) -> float:
    """The value that the other sources want; neutral where there are none.
    @param tried  {value: {source: metrics}}"""
    others = {s for groups in tried.values() for s in groups} - {source}
    if not others:
        return neutral
    return min(tried, key=lambda v: (statistics.mean(loss(tried[v][s]) for s in others
                                                     if s in tried[v]), v))


def trials(ridge: str, rows: list, report: list, files: dict) -> dict:
    """{constant: {value: {source: metrics}}}, of the rows that it can move."""
    tried = {}
    for place in constants(files):
        ids = movable(place, report)
        own = [r for r in report if r["id"] in ids]
        shipped = fact_at(files, place)["value"]
        tried[place] = {shipped: logs(own, source_of)}
        if len({r["source"] for r in own}) < 2:
            continue
        most = 1.0 if place[1][-1] in SHARES else math.inf
        for value in sorted({min(most, shipped * f) for f in FACTORS} - {shipped}):
            fact_at(files, place)["value"] = value
            some = [r for r in rows if r[2] in ids]
            tried[place][value] = logs(predictions(ridge, some, files), source_of)
            print(f"serving_fit: {place[0][1]} {'.'.join(place[1])} {value:.3g}",
                  file=sys.stderr, flush=True)
        fact_at(files, place)["value"] = shipped
    return tried


def leave_out(ridge: str, rows: list, files: dict) -> list:
    """[(source, metrics, metrics with the source left out)]"""
    report = predictions(ridge, rows, files)
    tried = trials(ridge, rows, report, files)
    shipped = {p: fact_at(files, p)["value"] for p in tried}
    found = []
    for source, metrics in sorted(logs(report, source_of).items()):
        for p in tried:
            fact_at(files, p)["value"] = choose(tried[p], source, neutral_of(p))
        ids = {r["id"] for r in report if r["source"] == source}
        some = [r for r in rows if r[2] in ids]
        there = logs(predictions(ridge, some, files), source_of).get(source, {})
        found.append((source, metrics, there))
        for p in tried:
            fact_at(files, p)["value"] = shipped[p]
    return found


def middle(values: list) -> str:
    return percent(values).split(" | ", maxsplit=1)[0]


def write_left_out(rows: list) -> None:
    print("\n| source | TTFT | left out | TPOT | left out | tokens/s | left out | rows |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for source, metrics, there in rows:
        cells = [middle(v.get(m, [])) for m in METRICS for v in (metrics, there)]
        print(f"| {source} | " + " | ".join(cells)
              + f" | {max(len(v) for v in metrics.values())} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("rows", nargs="+")
    options = parser.parse_args()
    files = load()
    measured = read_rows(options.rows)
    if options.leave_out:
        write_left_out(leave_out(options.ridge, measured, files))
        return 0
    print("engine rows TTFT-low TTFT-high TPOT-low TPOT-high")
    for line in ranges(predictions(options.ridge, measured, files)):
        print(*line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
