#!/usr/bin/env python3
"""Constants of data/stacks that were fitted, and the error with each source left out.

    stack_fit.py --ridge PROGRAM [--write] [FILE]
    stack_fit.py --ridge PROGRAM --ranges [--write] [FILE]
    stack_fit.py --ridge PROGRAM --general [--write] [FILE]

FILE holds measured training runs, as `ridge validate` reads them; the rows of the tree
unless it is given. Takes some ten minutes, and writes the tables into docs/accuracy.md;
with --ranges it writes range_low, range_high and range_rows of each stack: ends that a
further row lies between in eight of ten cases, by the ranks of measured / expected. With
--general it writes the range of steps on software that is not told (cost_range.h): each
source weighs the same, and the tails are cut so that of a source that is left out eight
of ten rows lie inside. A constant is a fact of
the source training-fit-2026; one that several stacks share is fitted once. With rows
left out each constant is chosen anew, from values around its own, by the errors of the
others: the mean over sources of the median |log(predicted / measured)|. A constant
that no other row knows of is taken as 1 (nothing); widths of experts and their host's time as 0. Then
the rows are predicted. Left out in turn are sources, families of models, chips, and
families of chips, each with all of its rows.
"""
import argparse
import concurrent.futures
import copy
import json
import math
import os
import re
import statistics
import sys
import tempfile

import program
import training_tables

FOLDER = os.path.join(program.ROOT, "data", "stacks")
RANGES = os.path.join(program.ROOT, "include", "ridge", "cost_range.h")
FIT = "training-fit-2026"
COVERED = 0.8
TAILS = tuple(0.1 - 0.005 * i for i in range(20))  # from the narrowest range to the widest
FACTORS = (0.6, 0.8, 1.0, 1.25, 1.6)  # tried, times the constant's own value
NUMBERS = ("stream_passes", "gated_passes", "experts_half_width", "experts_host_s")
NEUTRAL = {"experts_half_width": 0, "experts_host_s": 0}
LOWEST = {"stream_passes": 1, "gated_passes": 1}
MODELS = (("GPT.OSS", "GPT-OSS"), ("Llama 4", "Llama 4"),
          ("Nemotron (3|V3) ", "Nemotron 3, hybrids"), ("Nemotron", "Nemotron, dense"),
          ("DeepSeek", "DeepSeek"), ("Qwen", "Qwen3"), ("Grok", "Grok-1"),
          ("Mistral|Mixtral", "Mistral, Mixtral"), ("Gemma", "Gemma"), ("InternLM", "InternLM"),
          ("MaxText", "MaxText's own sizes"), ("MPT", "MPT"), ("Llama", "Llama 2 and 3"),
          ("GPT|NLG", "GPT"))
CHIPS = (("V100", "V100"), ("A100", "A100"), ("H100|H200", "Hopper"), ("B200|B300", "Blackwell"),
         ("TPU", "TPU"), ("MI3", "Instinct"))


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


def family(name: str, table: tuple) -> str:
    for word, group in table:
        if re.search(word, name):
            return group
    return name


WAYS = {"left-out": ("source", lambda r: r["source"]),
        "left-out-models": ("family of models", lambda r: family(r["model"], MODELS)),
        "left-out-chips": ("chip", lambda r: r["chip"]),
        "left-out-chip-families": ("family of chips", lambda r: family(r["chip"], CHIPS))}


def errors(ridge: str, rows: str, stacks: dict) -> list:
    """[{way: group, "log": log(predicted / measured)}]"""
    with tempfile.TemporaryDirectory() as data:
        os.mkdir(os.path.join(data, "stacks"))
        for name, stack in stacks.items():
            with open(os.path.join(data, "stacks", name), "w", encoding="utf-8") as f:
                json.dump(stack, f)
        report = training_tables.validate(ridge, rows, "--data", data)
    return [{way: group_of(row) for way, (_, group_of) in WAYS.items()}
            | {"log": math.log(row["predicted_step_time_s"] / row["measured_step_time_s"])}
            for row in training_tables.counted(report)]


def middle(rows: list) -> float:
    return statistics.median(abs(r["log"]) for r in rows)


def by_source(rows: list, way: str, held: str) -> dict:
    """{source: its rows that are not held out}"""
    found = {}
    for row in rows:
        if row[way] != held:
            found.setdefault(row["left-out"], []).append(row)
    return found


def choose(tried: dict, own: list, way: str, held: str, neutral: float) -> float:
    """The value that the other rows want; neutral where they do not care."""
    usual = by_source(own, way, held)
    others = {value: by_source(rows, way, held) for value, rows in tried.items()}
    moved = [s for s in usual
             if any(middle(o[s]) != middle(usual[s]) for o in others.values())]
    if not moved:
        return neutral
    return min(tried, key=lambda v: (statistics.mean(middle(others[v][s]) for s in moved),
                                     v))


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def write_left_out(made: dict):
    path = os.path.join(program.ROOT, "docs", "accuracy.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(training_tables.fill(text, made))


def ranks(values: list) -> tuple:
    """Ends that the next value lies between in eight of ten cases; of few values, all."""
    values = sorted(values)
    low = max(math.floor(0.1 * (len(values) + 1)), 1)
    high = min(math.ceil(0.9 * (len(values) + 1)), len(values))
    return values[low - 1], values[high - 1]


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
        low, high = ranks(values)
        for key, value in (("range_low", f"{low:.2f}"), ("range_high", f"{high:.2f}"),
                           ("range_rows", str(len(values)))):
            number = float(value)
            text = re.sub(rf'("{key}": {{"value": )[\d.]+', rf"\g<1>{number:g}", text)
        print(f"{name[:-5]}: {low:.2f} to {high:.2f}, {len(values)} rows")
        if writes:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


def weighed(sources: dict, tail: float) -> tuple:
    """Ends that cut off a tail each where every source weighs the same."""
    values = sorted((v, 1 / len(s) / len(sources)) for s in sources.values() for v in s)
    below, low = 0, values[0][0]
    for value, weight in values:
        below += weight
        if below >= tail:
            low = value
            break
    above, high = 0, values[-1][0]
    for value, weight in reversed(values):
        above += weight
        if above >= tail:
            high = value
            break
    return low, high


def inside(values: list, ends: tuple) -> float:
    return sum(ends[0] <= v <= ends[1] for v in values) / len(values)


def covered(sources: dict, tail: float) -> dict:
    """{source: share of its rows that lie inside the range of all others}"""
    return {name: inside(rows, weighed({n: s for n, s in sources.items() if n != name}, tail))
            for name, rows in sources.items()}


def general(ridge: str, rows: str, writes: bool):
    """The range of steps on software that is not told."""
    sources = {}
    for row in training_tables.counted(training_tables.without_software(ridge, rows)):
        ratio = row["measured_step_time_s"] / row["predicted_step_time_s"]
        sources.setdefault(row["source"], []).append(ratio)
    tail = next(t for t in TAILS if statistics.mean(covered(sources, t).values()) >= COVERED)
    low, high = weighed(sources, tail)
    shares = covered(sources, tail)
    count = sum(len(s) for s in sources.values())
    made = ("| range of a step, software not told | rows | sources | tails | of a source left out inside |\n"
            "| --- | ---: | ---: | ---: | ---: |\n"
            f"| {low:.2f} to {high:.2f} | {count} | {len(sources)} | {percent(tail)} | "
            f"{percent(statistics.mean(shares.values()))} |\n")
    print(made + "".join(f"{share:5.0%} {name}\n" for name, share in shares.items() if share < 0.5))
    if not writes:
        return
    write_left_out({"general-range": made})
    with open(RANGES, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r'(X\(TRAINING_STEP, "training steps", )[\d.]+, [\d.]+, \d+\)',
                  rf"\g<1>{low:.2f}, {high:.2f}, {count})", text)
    with open(RANGES, "w", encoding="utf-8") as f:
        f.write(text)


def left_out_table(way: str, own: list, constants: dict, tried: dict, predict) -> str:
    text = f"| {WAYS[way][0]} | rows | median | left out | p90 | left out |\n"
    text += "| --- | ---: | ---: | ---: | ---: | ---: |\n"
    left_out = []
    for held in dict.fromkeys(r[way] for r in own):
        values = {key: choose(tried[key], own, way, held, NEUTRAL.get(key[0], 1))
                  for key in constants}
        rows = [r for r in predict(values) if r[way] == held]
        left_out += rows
        text += line(held, [r for r in own if r[way] == held], rows)
    return text + line("all", own, left_out)


def line(name: str, own: list, rows: list) -> str:
    most = [training_tables.quantile([abs(r["log"]) for r in part], 0.9)
            for part in (own, rows)]
    return (f"| {name} | {len(rows)} | {percent(middle(own))} | {percent(middle(rows))} | "
            f"{percent(most[0])} | {percent(most[1])} |\n")


def try_values(key: tuple, predict, pool) -> dict:
    values = sorted({max(round(key[-2] * f, 5), LOWEST.get(key[0], 0)) for f in FACTORS})
    return dict(zip(values, pool.map(predict, values)))


def print_constants(constants: dict, tried: dict):
    print(f"\n{len(constants)} constants:")
    for key in constants:
        best = min(tried[key], key=lambda v: statistics.mean(
            middle(e) for e in by_source(tried[key][v], "left-out", "").values()))
        print(f"{key[0]} {' '.join(key[1:-2])} {key[-2]:g} (all sources: {best:g}): "
              f"{', '.join(sorted({p[0][:-5] for p in constants[key]}))}; {key[-1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("--general", action="store_true")
    parser.add_argument("rows", nargs="?", default=training_tables.ROWS)
    options = parser.parse_args()
    if options.ranges or options.general:
        (ranges if options.ranges else general)(options.ridge, options.rows, options.write)
        return 0
    stacks = load()
    constants = places(stacks)
    tried = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for key in constants:
            tried[key] = try_values(key, lambda v, key=key: errors(
                options.ridge, options.rows, with_values(stacks, constants, {key: v})), pool)
    own = errors(options.ridge, options.rows, stacks)
    known = {}

    def predict(values: dict) -> list:
        name = tuple(sorted(values.items()))
        if name not in known:
            known[name] = errors(options.ridge, options.rows,
                                 with_values(stacks, constants, values))
        return known[name]

    made = {way: left_out_table(way, own, constants, tried, predict) for way in WAYS}
    print("\n".join(made.values()))
    if options.write:
        write_left_out(made)
    print_constants(constants, tried)
    return 0


if __name__ == "__main__":
    sys.exit(main())
