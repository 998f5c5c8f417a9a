#!/usr/bin/env python3
"""Constants of data/stacks that were fitted, and the error with each source left out.

    stack_fit.py --ridge PROGRAM [--write] [FILE]
    stack_fit.py --ridge PROGRAM --ranges [--write] [FILE]

FILE holds measured training runs, as `ridge validate` reads them; the rows of the tree
unless it is given. Takes some ten minutes, and writes the table into docs/accuracy.md;
with --ranges it writes range_low, range_high and range_rows of each stack, the 10th and
90th percentile of measured / expected and their number. A constant is a fact of
the source training-fit-2026; one that several stacks share is fitted once. With a source
left out each constant is chosen anew, from values around its own, by the errors of the
other sources: the mean over them of the median |log(predicted / measured)|. A constant
that no other source knows of is taken as 1 (nothing), and widths of experts as 0. Then
the source is predicted.
"""
import argparse
import copy
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import program
import training_tables

FOLDER = os.path.join(program.ROOT, "data", "stacks")
FIT = "training-fit-2026"
FACTORS = (0.6, 0.8, 1.0, 1.25, 1.6)  # tried, times the constant's own value
NUMBERS = ("stream_passes", "gated_passes", "experts_half_width")
NEUTRAL = {"experts_half_width": 0}
LOWEST = {"stream_passes": 1, "gated_passes": 1}


def load() -> dict:
    stacks = {}
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
            stacks[name] = json.load(f)
    return stacks


def places(stacks: dict) -> dict:
    """{constant: [path of a fact]}; equal facts of several stacks are one constant."""
    found = {}
    for file, stack in stacks.items():
        for member, value in stack.items():
            if member in NUMBERS:
                facts = {(): value}
            elif member.endswith("_time"):
                facts = {(chip,): fact for chip, fact in value.items()}
            else:
                continue
            for rest, fact in facts.items():
                if fact["source"] == FIT:
                    key = (member, *rest, fact["value"], fact.get("note", ""))
                    found.setdefault(key, []).append((file, member, *rest))
    return found


def with_values(stacks: dict, constants: dict, values: dict) -> dict:
    changed = copy.deepcopy(stacks)
    for key, value in values.items():
        for path in constants[key]:
            at = changed[path[0]]
            for step in path[1:]:
                at = at[step]
            at["value"] = value
    return changed


def errors(ridge: str, rows: str, stacks: dict) -> dict:
    """{source: [log(predicted / measured)]}"""
    with tempfile.TemporaryDirectory() as data:
        os.mkdir(os.path.join(data, "stacks"))
        for name, stack in stacks.items():
            with open(os.path.join(data, "stacks", name), "w", encoding="utf-8") as f:
                json.dump(stack, f)
        done = subprocess.run([ridge, "validate", rows, "--rows", "--json", "--data", data],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"stack_fit: {done.stderr.strip()}")
    found = {}
    for row in json.loads(done.stdout)["row"]:
        if not row["disturbed"]:
            ratio = row["predicted_step_time_s"] / row["measured_step_time_s"]
            found.setdefault(row["source"], []).append(math.log(ratio))
    return found


def middle(values: list) -> float:
    return statistics.median(abs(v) for v in values)


def choose(tried: dict, own: dict, source: str, neutral: float) -> float:
    """The value that the other sources want; neutral where they do not care."""
    others = [s for s in own if s != source
              and any(middle(t[s]) != middle(own[s]) for t in tried.values())]
    if not others:
        return neutral
    return min(tried, key=lambda v: (statistics.mean(middle(tried[v][s]) for s in others),
                                     v))


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def write_left_out(lines: list):
    path = os.path.join(program.ROOT, "docs", "accuracy.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(training_tables.fill(text, {"left-out": "".join(x + "\n" for x in lines)}))


def ranges(ridge: str, rows: str, writes: bool):
    """Each stack's range from its own rows."""
    groups = {}
    for row in training_tables.counted(training_tables.validate(ridge, rows)):
        ratio = row["measured_step_time_s"] / row["predicted_step_time_s"]
        groups.setdefault(row["stack"], []).append(ratio)
    for name in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        values = groups.get(json.loads(text)["name"], [])
        if not values or '"range_low"' not in text:
            continue
        low, high = (training_tables.quantile(values, share) for share in (0.1, 0.9))
        for key, value in (("range_low", f"{low:.2f}"), ("range_high", f"{high:.2f}"),
                           ("range_rows", str(len(values)))):
            number = float(value)
            text = re.sub(rf'("{key}": {{"value": )[\d.]+', rf"\g<1>{number:g}", text)
        print(f"{name[:-5]}: {low:.2f} to {high:.2f}, {len(values)} rows")
        if writes:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


def left_out_table(ridge: str, rows: str, stacks: dict, constants: dict,
                   tried: dict) -> list:
    own = errors(ridge, rows, stacks)
    lines = ["| source | rows | median | left out |", "| --- | ---: | ---: | ---: |"]
    cache = {}
    left_out = []
    for source in own:
        values = {key: choose(tried[key], own, source, NEUTRAL.get(key[0], 1))
                  for key in constants}
        name = tuple(sorted(values.items()))
        if name not in cache:
            cache[name] = errors(ridge, rows, with_values(stacks, constants, values))
        held = cache[name][source]
        left_out += held
        lines.append(f"| {source} | {len(held)} | {percent(middle(own[source]))} | "
                     f"{percent(middle(held))} |")
    lines.append(f"| all | {len(left_out)} | {percent(middle(sum(own.values(), [])))} | "
                 f"{percent(middle(left_out))} |")
    return lines


def print_constants(constants: dict, tried: dict):
    print(f"\n{len(constants)} constants:")
    for key in constants:
        best = min(tried[key], key=lambda v: statistics.mean(
            middle(e) for e in tried[key][v].values()))
        print(f"{key[0]} {' '.join(key[1:-2])} {key[-2]:g} (all sources: {best:g}): "
              f"{', '.join(sorted({p[0][:-5] for p in constants[key]}))}; {key[-1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("rows", nargs="?", default=training_tables.ROWS)
    options = parser.parse_args()
    if options.ranges:
        ranges(options.ridge, options.rows, options.write)
        return 0
    stacks = load()
    constants = places(stacks)
    tried = {}
    for key in constants:
        shipped = key[-2]
        values = {max(round(shipped * f, 4), LOWEST.get(key[0], 0)) for f in FACTORS}
        tried[key] = {v: errors(options.ridge, options.rows,
                                with_values(stacks, constants, {key: v})) for v in values}
    lines = left_out_table(options.ridge, options.rows, stacks, constants, tried)
    print("\n".join(lines))
    if options.write:
        write_left_out(lines)
    print_constants(constants, tried)
    return 0


if __name__ == "__main__":
    sys.exit(main())
