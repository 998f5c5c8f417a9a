#!/usr/bin/env python3
"""Predictions held to the accuracy that they had: a gate against silent drift.

    accuracy.py --ridge PROGRAM                    compare
    accuracy.py --ridge PROGRAM --write            rewrite what is recorded, and the tables of
                                                   measured training in docs/accuracy.md;
                                                   review the diff
    accuracy.py --ridge PROGRAM --serving FILE...  compare the tables of measured serving in
                                                   docs/accuracy.md with FILEs; or --write

tests/golden/accuracy/ holds samples of published measurements. `ridge validate` predicts
their rows; a chip whose median error is more than 2 points above what recorded.json has
for it, or of which fewer rows are predicted, fails. So does a chip of training whose rows
that state their whole plan miss the aim, and a table in the document that is not as the
program makes it.
"""
import argparse
import json
import os
import sys

import accuracy_head
import program
import serving_fit
import training_tables

DOCUMENT = os.path.join(program.ROOT, "docs", "accuracy.md")
BEGIN = "<!-- made by tools/accuracy.py --serving -->\n"
END = "<!-- end of what is made -->\n"
REASONS_MOST = 8
FOLDER = os.path.join("tests", "golden", "accuracy")
RECORDED = os.path.join(program.ROOT, FOLDER, "recorded.json")
ROWS_LEAST = 5      # a median of fewer says little
POINTS_MOST = 0.02  # of the error: what may be lost without a word
TRAINING = "training.jsonl"
AIMS = (("median_abs_rel_error", 0.10), ("p90_abs_rel_error", 0.25))  # of training
ORDER = "models whose layouts are in order"


def samples() -> list:
    names = os.listdir(os.path.join(program.ROOT, FOLDER))
    return sorted(n for n in names if n.endswith((".csv", ".jsonl")))


def serving_groups(metric: str, errors: dict) -> dict:
    """Of measured serving: each metric of all rows and of those that state enough, by chip
    and by engine."""
    groups = {f"{metric}, {which}": errors[which] for which in ("all", "complete")}
    for key in ("by_chip", "complete_by_chip", "by_engine"):
        text = "states enough, " if key == "complete_by_chip" else ""
        groups.update({f"{metric}, {text}{name}": e for name, e in errors[key].items()})
    return groups


def measure(ridge: str, name: str) -> dict:
    """Rows and median error by chip, and by chip and kind; of training runs also of those
    that state their whole plan, by software, and of memory by source."""
    code, out, err = program.run(ridge, f"ridge validate {FOLDER}/{name} --json")
    if code != 0:
        sys.exit(f"accuracy: {name}: {err.strip()}")
    report = json.loads(out)
    groups = {"all rows": {"rows": report["predicted"],
                           "median_abs_rel_error": report["median_abs_rel_error"]}}
    for key in ("by_chip", "by_chip_kind"):
        groups.update(report.get(key, {}))
    for key, text in (("complete_by_chip", "whole plan, "), ("by_stack", "software "),
                      ("memory_by_source", "memory, ")):
        groups.update({text + name: e for name, e in report.get(key, {}).items()})
    for metric, errors in report.get("metrics", {}).items():
        groups.update(serving_groups(metric, errors))
    in_order = sum(r["kendall_tau"] >= training_tables.TAU_WANTED
                   for r in report.get("rankings", []))
    groups[ORDER] = {"rows": in_order, "median_abs_rel_error": 0}
    return {group: {"rows": e["rows"], "median": round(e["median_abs_rel_error"], 4)}
            for group, e in groups.items() if e["rows"] >= ROWS_LEAST}


def complaints(name: str, want: dict, got: dict) -> list:
    found = []
    for group, recorded in want.items():
        now = got.get(group, {"rows": 0, "median": 0.0})
        if now["rows"] < recorded["rows"]:
            found.append(f"{name}: {group}: {now['rows']} rows predicted, "
                         f"{recorded['rows']} before")
        if now["median"] > recorded["median"] + POINTS_MOST:
            found.append(f"{name}: {group}: median error {100 * now['median']:.1f} %, "
                         f"{100 * recorded['median']:.1f} % recorded")
    return found


def missed_aims(report: dict) -> list:
    """Chips of training whose whole plans are predicted worse than Ridge sets out to."""
    found = []
    for key, most in AIMS:
        groups = {f"whole plan, {name}": e for name, e in report["complete_by_chip"].items()}
        if key == AIMS[0][0]:
            groups["memory"] = report["memory"]
        found += [f"{TRAINING}: {name}: {key} {100 * e[key]:.1f} %, at most {100 * most:.0f} % "
                  "is the aim" for name, e in groups.items() if e[key] > most]
    return found


def stale_tables(text: str, made: dict) -> list:
    if training_tables.fill(text, made) == text:
        return []
    return ["docs/accuracy.md: tables of training are not as the program makes them: "
            "tools/accuracy.py --write"]


def read_document() -> str:
    with open(DOCUMENT, encoding="utf-8") as f:
        return f.read()


def made_of(ridge: str, report: dict) -> dict:
    return {**training_tables.sections(ridge, report), "head": accuracy_head.section(ridge)}


def write_training(ridge: str):
    report = training_tables.validate(ridge, training_tables.ROWS)
    text = training_tables.fill(read_document(), made_of(ridge, report))
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(text)


def check_training(ridge: str) -> list:
    report = training_tables.validate(ridge, training_tables.ROWS)
    made = made_of(ridge, report)
    return missed_aims(report) + stale_tables(read_document(), made)


def serving_reports(ridge: str, files: list) -> tuple:
    """Predicted rows of all FILEs, and counts over them."""
    rows, reasons = [], {}
    counts = {"rows": 0, "predicted": 0, "complete": 0, "drafted": 0,
              "contradict": 0}
    for path in files:
        code, out, err = program.run(
            ridge, f"ridge validate {os.path.abspath(path)} --rows --json")
        if code != 0:
            sys.exit(f"accuracy: {path}: {err.strip()}")
        report = json.loads(out)
        rows += serving_fit.credible(report["row"])
        for key in counts:
            counts[key] += report[key]
        for row in report["skipped"]:
            reasons[row["why"]] = reasons.get(row["why"], 0) + 1
    return rows, counts, reasons


def serving_section(ridge: str, files: list) -> str:
    rows, counts, reasons = serving_reports(ridge, files)
    whole = [r for r in rows if r["complete"]]
    text = (f"{counts['rows']:,} rows: {counts['predicted']:,} predicted, of which "
            f"{counts['complete']:,} state enough; {counts['drafted']} drafted by the rules "
            f"and are not counted, {counts['contradict']} contradict themselves: of those "
            "tokens/s alone count, where means over requests are what contradicts.\n\n")
    fits = [r["fits_in_memory"] for r in rows if "fits_in_memory" in r]
    if fits:
        right = sum(f["measured"] == f["predicted"] for f in fits)
        text += (f"Of {len(fits)} that say whether a run fits in memory {right} are told "
                 "right.\n\n")
    for what, some in (("rows that state enough", whole), ("all rows", rows)):
        for key in ("chip", "engine"):
            groups = serving_fit.logs(some, lambda r, key=key: r[key])
            text += serving_fit.table(f"{key}, {what}", groups) + "\n"
    text += serving_fit.table("source, all rows", serving_fit.logs(rows, serving_fit.source_of))
    text += ("\nRanges, the 10th and 90th percentile of measured / expected:\n\n"
             "| engine | rows | TTFT | TPOT |\n| --- | ---: | --- | --- |\n")
    for name, n, *ends in serving_fit.ranges(rows):
        text += f"| {name} | {n} | {ends[0]} to {ends[1]} | {ends[2]} to {ends[3]} |\n"
    text += "\n| not predicted | rows |\n| --- | ---: |\n"
    most = sorted(reasons.items(), key=lambda x: (-x[1], x[0]))[:REASONS_MOST]
    return text + "".join(f"| {why} | {n} |\n" for why, n in most)


def serving_document(ridge: str, files: list, writes: bool) -> int:
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN, 1)
    own, after = rest.split(END, 1)
    made = serving_section(ridge, files)
    if not writes:
        print("accuracy: tables of measured serving are "
              + ("as the program makes them" if own == made else "not those of these files"))
        return 0 if own == made else 1
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + made + END + after)
    print("accuracy: tables of measured serving written")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--recorded", default=RECORDED, help="compare with this file")
    parser.add_argument("--serving", nargs="+", metavar="FILE")
    options = parser.parse_args()
    if options.serving:
        return serving_document(options.ridge, options.serving, options.write)
    got = {name: measure(options.ridge, name) for name in samples()}
    if options.write:
        with open(options.recorded, "w", encoding="utf-8") as f:
            json.dump(got, f, indent=1)
            f.write("\n")
        write_training(options.ridge)
        print(f"accuracy: {len(got)} samples recorded")
        return 0
    with open(options.recorded, encoding="utf-8") as f:
        want = json.load(f)
    found = [c for name in sorted(want) for c in complaints(name, want[name], got.get(name, {}))]
    found += [f"{name}: not recorded: make golden" for name in got if name not in want]
    found += check_training(options.ridge)
    for complaint in found:
        print(complaint)
    groups = sum(len(v) for v in want.values())
    print(f"accuracy: {len(got)} samples, {groups} medians, {len(found)} worse than recorded")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
