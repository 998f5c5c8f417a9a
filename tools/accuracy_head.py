"""The table at the head of docs/accuracy.md: each domain in a line, those rows that constants
were set on before those that none knows of."""
import os

import training_tables

FOLDER = os.path.dirname(training_tables.ROWS)
STEP, MEMORY = "training step", "peak memory of training"
METRICS = (("ttft_s", "time to the first token"), ("tpot_s", "time a token"),
           ("tokens_per_s", "tokens/s"))
SET_ON, LATER, OTHERS = "set on", "same publishers, not set on", "other publishers"
SAMPLED = "sample of public tables"
OPERATIONS = (("gemm.csv", "matrix product"), ("attention.csv", "attention"),
              ("experts.csv", "products of experts"), ("collectives.csv", "collective"),
              ("tpu.csv", "operation of a TPU"))


def line(what: str, which: str, error: dict) -> str:
    percents = " | ".join(training_tables.percent(error[key])
                          for key in ("median_abs_rel_error", "p90_abs_rel_error"))
    return f"| {what} | {which} | {error['rows']} | {percents} |\n"


def training(report) -> str:
    text = ""
    for name, which in (("training.jsonl", SET_ON), ("training-unseen.jsonl", LATER),
                        ("training-outside.jsonl", OTHERS)):
        rows = report(name)
        counted = len(training_tables.counted(rows))
        text += line(STEP, which, {**rows, "rows": counted})
        text += line(f"{STEP}, whole plan stated", which, rows["complete"])
        text += line(MEMORY, which, rows["memory"])
    return text


def serving(report) -> str:
    text = ""
    for name, which in (("serving.csv", SET_ON), ("serving.jsonl", SET_ON),
                        ("serving-unseen.jsonl", OTHERS), ("serving-outside.jsonl", OTHERS)):
        metrics = report(name)["metrics"]
        for key, what in METRICS:
            error = metrics.get(key, {}).get("complete")
            if error and error["rows"] > 0:
                text += line(f"{what} (`{name}`)", which, error)
    return text


def section(ridge: str) -> str:
    def report(name: str) -> dict:
        return training_tables.validate(ridge, os.path.join(FOLDER, name))
    text = "| what | of | rows | median | p90 |\n| --- | --- | ---: | ---: | ---: |\n"
    text += training(report) + serving(report)
    for name, what in OPERATIONS:
        text += line(what, SAMPLED, report(name))
    return text
