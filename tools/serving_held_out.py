#!/usr/bin/env python3
"""Errors of measured serving on sources, models, engines and chips that no constant has seen.

    serving_held_out.py --ridge PROGRAM [--by KEY]... [--write] FILE...

FILEs hold measured serving, as `ridge validate` reads it. Takes a quarter of an hour; --write
puts the tables into docs/accuracy.md. Each group of a key (source, model, engine, chip) is
held out in turn. Each fitted constant (serving_fit.py) is chosen anew, out of 0.6, 0.8, 1,
1.25 and 1.6 times its own value, by the errors of the other groups that it moves (of 250
rows, drawn evenly): the mean over them, and over their metrics, of the median
|log(predicted / measured)|. One that moves no other group is taken as nothing: 0, or a share
of 1. Then the group is predicted.

A model is all its sizes of a name in all formats; an engine is all releases whose file has
another one's as its base. Of these, engines are also predicted with the constants of another
engine (vLLM's; those of SGLang for vLLM), and chips with the middle one of the other chips:
what the author of a new file would take.
"""
import argparse
import json
import math
import os
import re
import statistics
import sys

import program
import serving_fit as fit
import training_tables

FACTORS = (0.6, 0.8, 1.0, 1.25, 1.6)
TRIED_MOST = 250  # rows that a constant is chosen by, drawn evenly
SHARES = ("loaded", "experts_share", "experts_share_fp8", "experts_share_fp4",
          "experts_share_narrow", "matmul_share")  # at most one; one is nothing
LENDERS = {"trtllm": "vllm-v1", "sglang": "vllm-v1", "vllm-v1": "sglang",
           "vllm-v0": "vllm-v1"}
ROOTS_NOT = ("static",)  # what they share are rules, not software
FORMAT = re.compile(r"[- ](fp8|nvfp4|bf16|instruct|chat|coder|0528)$")


def bases(folder: str) -> dict:
    """{name: name of its base or None} of the files of a folder of data/."""
    at = os.path.join(program.ROOT, "data", folder)
    found = {}
    for file in os.listdir(at):
        with open(os.path.join(at, file), encoding="utf-8") as f:
            value = json.load(f)
        found[value["name"]] = value.get("base")
    return found


def heirs(base: dict, name: str) -> set:
    """A name and all that have it as their base, or as the base of that."""
    found = {name}
    while True:
        more = {n for n, b in base.items() if b in found} - found
        if not more:
            return found
        found |= more


def model_of(row: dict) -> str:
    """'deepseek-ai/DeepSeek-R1-0528' and 'DeepSeek-R1' are one model."""
    name = row["model"].rsplit("/", maxsplit=1)[-1].lower().replace(" ", "-")
    name = re.sub(r"^llama(\d)", r"llama-\1", name)
    while FORMAT.search(name):
        name = FORMAT.sub("", name)
    return name


def engine_of(base: dict):
    def root(row):
        name = row["engine"]
        while base[name] and base[name] not in ROOTS_NOT:
            name = base[name]
        return name
    return root


def keys() -> dict:
    return {"source": lambda r: r["source"], "model": model_of,
            "engine": engine_of(bases("engines")), "chip": lambda r: r["chip"]}


def neutral_of(place: tuple) -> float:
    return 1.0 if place[1][-1] in SHARES else 0.0


def evenly(rows: list) -> list:
    """Some of the rows, sorted so that all deployments have their share."""
    rows = sorted(rows, key=lambda r: r["id"])
    step = max(1, math.ceil(len(rows) / TRIED_MOST))
    return rows[::step]


class Trials:
    """Rows predicted with each constant at each of its values, the others as they are."""

    def __init__(self, ridge: str, rows: list):
        self.ridge, self.rows, self.files = ridge, rows, fit.load()
        self.report = fit.predictions(ridge, rows, self.files)
        self.places = fit.constants(self.files)
        self.shipped = {p: fit.fact_at(self.files, p)["value"] for p in self.places}
        folders = {folder: bases(folder) for folder in fit.FOLDERS}
        self.names = {p: heirs(folders[p[0][0]], p[0][1][:-len(".json")])
                      for p in self.places}
        self.tried = {p: self.trial(p) for p in self.places}

    def moved(self, place: tuple) -> list:
        """Rows that a constant can move: those of its engine or chip and of their heirs."""
        key = "engine" if place[0][0] == "engines" else "chip"
        return [r for r in self.report if r[key] in self.names[place]]

    def predict(self, rows: list, values: dict, added=()) -> list:
        """These rows anew with other values of constants.
        @param added  facts that a file has not: [(file, path, value)]"""
        ids = {r["id"] for r in rows}
        for place, value in values.items():
            fit.fact_at(self.files, place)["value"] = value
        for file, path, value in added:
            self.files[file][path[0]] = {"value": value, "source": fit.FIT, "date": "2026"}
        found = fit.predictions(self.ridge, [r for r in self.rows if r[2] in ids], self.files)
        for file, path, _ in added:
            del self.files[file][path[0]]
        for place in values:
            fit.fact_at(self.files, place)["value"] = self.shipped[place]
        return found

    def trial(self, place: tuple) -> dict:
        """{value: rows}"""
        own, shipped = evenly(self.moved(place)), self.shipped[place]
        most = 1.0 if place[1][-1] in SHARES else math.inf
        tried = {shipped: own}
        for value in sorted({min(most, shipped * f) for f in FACTORS} - {shipped}):
            tried[value] = self.predict(own, {place: value})
        print(f"serving_held_out: {place[0][1]} {'.'.join(place[1])}", file=sys.stderr,
              flush=True)
        return tried

    def choose(self, place: tuple, group: str, key) -> float:
        """The value that the other groups want; what stands for nothing if there are none."""
        by_value = {v: fit.logs([r for r in rows if key(r) != group], key)
                    for v, rows in self.tried[place].items()}
        if not by_value[self.shipped[place]]:
            return neutral_of(place)
        return min(by_value, key=lambda v: (
            statistics.mean(fit.loss(m) for m in by_value[v].values()), v))

    def held_out(self, group: str, key) -> list:
        """The rows of a group, predicted by what the others say."""
        own = [r for r in self.report if key(r) == group]
        ids = {r["id"] for r in own}
        places = [p for p in self.places if any(r["id"] in ids for r in self.moved(p))]
        values = {p: self.choose(p, group, key) for p in places}
        values = {p: v for p, v in values.items() if v != self.shipped[p]}
        return self.predict(own, values) if values else own

    def engine_borrowed(self, group: str, key) -> list:
        """The rows of an engine with the constants of its lender; none without one."""
        lender = LENDERS.get(group)
        if lender is None:
            return []
        lent = {p[1]: self.shipped[p] for p in self.places if p[0][1] == f"{lender}.json"}
        own = [r for r in self.report if key(r) == group]
        names = {f"{r['engine']}.json" for r in own} | {f"{group}.json"}
        places = [p for p in self.places if p[0][0] == "engines" and p[0][1] in names]
        values = {p: lent.get(p[1], neutral_of(p)) for p in places}
        file = ("engines", f"{group}.json")
        if file not in self.files:
            return []
        has = self.files[file]
        added = [(file, path, v) for path, v in lent.items() if path[0] not in has]
        return self.predict(own, values, added)

    def chip_borrowed(self, group: str, key) -> list:
        """The rows of a chip with the middle one of the other chips' constants."""
        places = [p for p in self.places if p[0] == ("chips", f"{group}.json")]
        if not places:
            return []
        values = {}
        for place in places:
            others = [v for p, v in self.shipped.items()
                      if p[1] == place[1] and p[0][0] == "chips" and p != place]
            values[place] = statistics.median(others) if others else neutral_of(place)
        return self.predict([r for r in self.report if key(r) == group], values)


def middle(values: list) -> str:
    return fit.percent(values).split(" | ", maxsplit=1)[0]


def by_metric(rows: list) -> dict:
    return fit.logs(rows, lambda r: "").get("", {})


def whole(rows: list) -> list:
    return [r for r in rows if r["complete"]]


def line(name: str, columns: list) -> str:
    cells = [middle(rows.get(m, [])) for m in fit.METRICS for rows in columns]
    return f"| {name} | " + " | ".join(cells) + \
        f" | {max(len(v) for v in columns[0].values())} |\n"


def table(trials: Trials, name: str, key, lend=None) -> str:
    """Errors of each group, held out and (with lend) with what it may borrow."""
    heads = ["", " left out"] + ([" borrowed"] if lend else [])
    chosen = (lambda rows: rows) if name == "source" else whole
    heading = " | ".join(f"{m}{h}" for m in fit.METRICS.values() for h in heads)
    text = (f"| {name} | {heading} | rows |\n| --- |"
            + " ---: |" * (len(fit.METRICS) * len(heads) + 1) + "\n")
    totals = [[] for _ in heads]
    for group in sorted({key(r) for r in trials.report}):
        own = chosen([r for r in trials.report if key(r) == group])
        if not own:
            continue
        columns = [own, chosen(trials.held_out(group, key))]
        if lend:
            columns.append(chosen(lend(group, key)))
        for total, rows in zip(totals, columns):
            total += rows or own
        if len(own) >= fit.ROWS_LEAST:
            text += line(group, [by_metric(rows) for rows in columns])
        print(f"serving_held_out: {name} {group}", file=sys.stderr, flush=True)
    return text + line("all", [by_metric(rows) for rows in totals])


def write(made: dict) -> None:
    path = os.path.join(program.ROOT, "docs", "accuracy.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(training_tables.fill(text, made))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--by", action="append", choices=sorted(keys()))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("rows", nargs="+")
    options = parser.parse_args()
    trials = Trials(options.ridge, fit.read_rows(options.rows))
    lend = {"engine": trials.engine_borrowed, "chip": trials.chip_borrowed}
    made = {f"held-out-{name}": table(trials, name, key, lend.get(name))
            for name, key in keys().items() if not options.by or name in options.by}
    for text in made.values():
        print(text)
    if options.write:
        write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
