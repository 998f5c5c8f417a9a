#!/usr/bin/env python3
"""Constants of serving that were fitted: what they are, what rows come to, ranges by engine.

    serving_fit.py --ridge PROGRAM FILE...   ranges of data/engines

FILEs hold measured serving, as `ridge validate` reads it. A constant is a fact of the source
serving-fit-2026 in data/engines and data/chips. accuracy.py --serving makes the tables of
docs/accuracy.md, serving_held_out.py those of what was held out.
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
METRICS = {"ttft_s": "TTFT", "tpot_s": "TPOT", "tokens_per_s": "tokens/s"}
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


def credible(rows: list) -> list:
    """The rows that did not draft, without what of contradicting ones does not count."""
    def counts(row: dict, key: str) -> bool:
        return (key not in METRICS or "contradiction" not in row
                or (key == "tokens_per_s" and row["counts_tokens_per_s"]))
    return [{k: v for k, v in r.items() if counts(r, k)}
            for r in rows if r["drafting"] not in ("proven", "twin")]


def predictions(ridge: str, rows: list, files: dict) -> list:
    """The report's rows for these rows that count."""
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
    return credible(found)


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("rows", nargs="+")
    options = parser.parse_args()
    files = load()
    measured = read_rows(options.rows)
    print("engine rows TTFT-low TTFT-high TPOT-low TPOT-high")
    for line in ranges(predictions(options.ridge, measured, files)):
        print(*line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
