"""Tables of measured training in docs/accuracy.md, made from the rows that the tree has.

Each stands between marks that carry its name; what is written around them is kept.
"""
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import program

ROWS = os.path.join(program.ROOT, "tests", "golden", "accuracy", "training.jsonl")
UNSEEN = os.path.join(program.ROOT, "tests", "golden", "accuracy", "training-unseen.jsonl")
OUTSIDE = os.path.join(program.ROOT, "tests", "golden", "accuracy", "training-outside.jsonl")
PAPERS = os.path.join(program.ROOT, "tests", "golden", "accuracy", "training-papers.jsonl")
STACKS = os.path.join(program.ROOT, "data", "stacks")
MARKS = re.compile(r"(<!-- made by tools/(?:accuracy|stack_fit|serving_held_out)\.py: ([a-z-]+) -->\n)(.*?)"
                   r"(<!-- end of [a-z-]+ -->\n)", re.DOTALL)
TAU_WANTED = 0.795  # 0.8 as printed


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def quantile(values: list, share: float) -> float:
    """Between the two nearest ranks, linearly."""
    values = sorted(values)
    at = share * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def validate(ridge: str, rows: str, *options: str) -> dict:
    done = subprocess.run([ridge, "validate", rows, "--rows", "--json", *options],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"training_tables: {done.stderr.strip()}")
    return json.loads(done.stdout)


def without_software(ridge: str, rows: str, *kept: str) -> dict:
    """As if no source had told what it ran on; where "usual_on" is kept, it is taken to be what
    is usual on its chips, else well tuned."""
    with tempfile.TemporaryDirectory() as data:
        shutil.copytree(STACKS, os.path.join(data, "stacks"))
        for name in os.listdir(STACKS):
            path = os.path.join(data, "stacks", name)
            with open(path, encoding="utf-8") as f:
                stack = json.load(f)
            for key in {"runs", "told_by", "usual_on"} - set(kept):
                stack.pop(key, None)
            with open(path, "w", encoding="utf-8") as f:
                json.dump(stack, f)
        return validate(ridge, rows, "--data", data)


def table(head: str, groups: dict) -> str:
    text = f"| {head} | rows | median | p90 | bias |\n| --- | ---: | ---: | ---: | ---: |\n"
    return text + "".join(
        f"| {name} | {e['rows']} | {percent(e['median_abs_rel_error'])} | "
        f"{percent(e['p90_abs_rel_error'])} | {100 * e['bias']:+.1f} % |\n"
        for name, e in groups.items())


def counted(report: dict) -> list:
    return [r for r in report["row"] if not r["disturbed"]]


def summary(report: dict) -> str:
    whole = {"rows": len(counted(report)), **report}
    groups = {"all rows": whole, "plan stated whole": report["complete"],
              "something assumed": report["assumed"], "peak memory": report["memory"]}
    some = [[abs(r["rel_error"]) for r in report["row"] if which or r["assumed"] == ""]
            for which in (True, False)]
    text = table("rows", groups)
    text += (f"\n{report['rows']} rows, {report['predicted']} predicted; "
             f"{report['disturbed']} of them were disturbed and are not counted. With them the "
             f"medians are {percent(statistics.median(some[0]))} and "
             f"{percent(statistics.median(some[1]))} (plan stated whole).\n")
    reasons = {}
    for row in report["skipped"]:
        reasons[row["why"]] = reasons.get(row["why"], 0) + 1
    text += "\n| not predicted | rows |\n| --- | ---: |\n"
    most = sorted(reasons.items(), key=lambda x: (-x[1], x[0]))
    return text + "".join(f"| {why} | {n} |\n" for why, n in most)


def order(report: dict) -> str:
    text = ("| source | model | layouts | pairs | tau | repeats | beyond |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
    rankings = report["rankings"]
    for r in rankings:
        repeats = percent(r["repeats_differ"]) if r["repeats_differ"] > 0 else "-"
        text += (f"| {r['source']} | {r['model']} | {r['layouts']} | {r['pairs']} | "
                 f"{r['kendall_tau']:.2f} | {repeats} | {r['kendall_tau_beyond']:.2f} |\n")
    good = sum(r["kendall_tau"] >= TAU_WANTED for r in rankings)
    beyond = sum(r["kendall_tau_beyond"] >= TAU_WANTED for r in rankings)
    return text + (f"\n{good} of {len(rankings)} reach 0.8, beyond repeats {beyond}.\n")


def ratios(rows: list) -> str:
    values = [r["measured_step_time_s"] / r["predicted_step_time_s"] for r in rows]
    return f"{len(values)} | " + " | ".join(
        f"{quantile(values, share):.2f}" for share in (0.1, 0.5, 0.9))


def steps(ridge: str, report: dict) -> str:
    rows = counted(report)
    whole = [r for r in rows if r["assumed"] == ""]
    untold = counted(without_software(ridge, ROWS))
    return ("| kind | rows | 10th | median | 90th |\n| --- | ---: | ---: | ---: | ---: |\n"
            f"| training step, software not told | {ratios(untold)} |\n"
            f"| training step, on its own stack | {ratios(rows)} |\n"
            f"| training step, plan stated whole, on its own stack | {ratios(whole)} |\n")


def unseen(ridge: str) -> str:
    """Rows of the same sources that no constant was set on."""
    report = validate(ridge, UNSEEN)
    groups = {"all rows": {"rows": len(counted(report)), **report},
              "plan stated whole": report["complete"],
              "something assumed": report["assumed"], **report["by_source"],
              **report["by_chip"]}
    return table("rows that no constant was set on", groups)


def outside(ridge: str) -> str:
    """Rows of other publishers that no constant was set on."""
    report = validate(ridge, OUTSIDE)
    groups = {"all rows": {"rows": len(counted(report)), **report},
              "plan stated whole": report["complete"],
              "something assumed": report["assumed"], **report["by_source"],
              **report["by_chip"]}
    memory = table("peak memory", report["memory_by_source"])
    return table("rows of other publishers", groups) + "\n" + memory


def papers(ridge: str) -> str:
    """Single figures of papers and README files, row by row."""
    report = validate(ridge, PAPERS)
    text = "| run | chip | measured | predicted | error | assumed |\n| --- | --- | ---: | ---: | ---: | --- |\n"
    for r in report["row"]:
        text += (f"| {r['id']} | {r['chip']} | {r['measured_step_time_s']:.3g} s | "
                 f"{r['predicted_step_time_s']:.3g} s | {100 * r['rel_error']:+.1f} % | {r['assumed']} |\n")
    return text + f"\nMedian error {percent(report['median_abs_rel_error'])}.\n"


def untold(ridge: str, report: dict) -> str:
    """What it costs not to know the software of a run."""
    ways = {"told by its source": report,
            "not told: what is usual on such chips": without_software(ridge, ROWS, "usual_on"),
            "not told: well tuned": without_software(ridge, ROWS)}
    return table("software of all rows", {
        name: {"rows": len(counted(r)), **r} for name, r in ways.items()})


def sections(ridge: str, report: dict) -> dict:
    """{name: table}; what stack_fit.py makes takes minutes and is left alone."""
    stacks = {f"`{name}`": e for name, e in report["by_stack"].items()}
    return {"summary": summary(report),
            "whole-plans": table("chip, plan stated whole", report["complete_by_chip"]),
            "chips": table("chip", report["by_chip"]),
            "software": table("stack", stacks),
            "untold": untold(ridge, report),
            "order": order(report),
            "memory": table("source", report["memory_by_source"]),
            "unseen": unseen(ridge),
            "outside": outside(ridge),
            "papers": papers(ridge),
            "steps": steps(ridge, report)}


def fill(text: str, made: dict) -> str:
    """The document with what was made between its marks."""
    return MARKS.sub(lambda m: m[1] + made.get(m[2], m[3]) + m[4], text)
