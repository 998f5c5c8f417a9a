#!/usr/bin/env python3
"""Predicted against measured steps on this machine, over many layouts.

    run_accuracy.py --ridge PROGRAM [--steps N] [--quick] [--only WORD] [--machines DIR]
                    [--write]

Calibrates for each number of ranks and threads, lets `ridge train --on` predict each
layout and `ridge run` carry it out, and prints a table with the median error. --write
puts the table into docs/accuracy.md. Wants a machine that does nothing else: a run whose
steps differ much is repeated, and the quicker of the two counts. --machines DIR keeps
what was calibrated there, and takes what lies there already: a second call goes straight
to the layouts.
"""
import argparse
import array
import datetime
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "accuracy.md")
HEADING = "## Steps that Ridge runs itself"
NEXT_HEADING = "## Ranges"
MACHINE = "### "  # begins the section of one

LLAMA = {"model_type": "llama", "hidden_size": 384, "intermediate_size": 1024,
         "num_hidden_layers": 8, "num_attention_heads": 6, "num_key_value_heads": 6,
         "vocab_size": 4096, "hidden_act": "silu", "tie_word_embeddings": False}
MOE = {"model_type": "mixtral", "hidden_size": 256, "intermediate_size": 512,
       "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4,
       "vocab_size": 4096, "hidden_act": "silu", "tie_word_embeddings": False,
       "num_local_experts": 8, "num_experts_per_tok": 2}
MODELS = {"dense": LLAMA, "moe": MOE}
SEQ, BATCH_SEQS, VOCABULARY = 256, 16, 4096
# Steps of a run: as many as take this long, after two that do not count.
MEASURED_S, LEAST_STEPS, MOST_STEPS = 3.0, 6, 14
DISTURBED = 0.08  # half of a run's steps differ by more than this

# model, ranks, threads of a rank, knobs that differ from 1 or off, options of run
CASES = [
    ("dense", 1, 1, "microbatch=16", ""),
    ("dense", 1, 1, "microbatch=4", ""),
    ("dense", 1, 1, "microbatch=4 remat=full", ""),
    ("dense", 1, 1, "microbatch=4 remat=matmuls", ""),
    ("moe", 1, 1, "microbatch=8", ""),
    ("dense", 1, 2, "microbatch=8", ""),
    ("moe", 1, 2, "microbatch=8", ""),
    ("dense", 2, 1, "dp=2 microbatch=8", ""),
    ("dense", 2, 1, "dp=2 microbatch=2", ""),
    ("dense", 2, 1, "fsdp=2 zero=1 microbatch=8", ""),
    ("dense", 2, 1, "fsdp=2 zero=2 microbatch=4", ""),
    ("dense", 2, 1, "fsdp=2 zero=3 microbatch=4", ""),
    ("dense", 2, 1, "tp=2 microbatch=8", ""),
    ("dense", 2, 1, "tp=2 sp=1 microbatch=8", ""),
    ("dense", 2, 1, "cp=2 microbatch=8", ""),
    ("dense", 2, 1, "pp=2 microbatch=2", "--schedule 1f1b"),
    ("dense", 2, 1, "pp=2 vpp=2 microbatch=2", "--schedule interleaved"),
    ("moe", 2, 1, "dp=2 ep=2 microbatch=4", ""),
    ("moe", 2, 1, "tp=2 microbatch=8", ""),
    ("dense", 4, 1, "dp=4 microbatch=4", ""),
    ("dense", 4, 1, "fsdp=4 zero=3 microbatch=4", ""),
    ("dense", 4, 1, "dp=2 tp=2 microbatch=4", ""),
    ("dense", 4, 1, "tp=2 sp=1 pp=2 microbatch=4", "--schedule 1f1b"),
    ("moe", 4, 1, "fsdp=2 zero=1 tp=2 ep=2 microbatch=4", ""),
]
DEFAULTS = {"dp": "1", "fsdp": "1", "tp": "1", "cp": "1", "pp": "1", "ep": "1",
            "vpp": "1", "zero": "0", "sp": "0", "tp_overlap": "0", "remat": "none"}


def write_inputs(folder: str) -> None:
    for name, config in MODELS.items():
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
    draw = random.Random(1)
    words = array.array("H", (min(VOCABULARY - 1, int(draw.expovariate(1 / 300)))
                              for _ in range(300000)))
    with open(os.path.join(folder, "tokens.bin"), "wb") as f:
        words.tofile(f)


def call(folder: str, *words: str) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{words[1]}: exit {done.returncode}")
    return done.stdout


def system_of(ranks: int, threads: int) -> str:
    return f"ranks-{ranks}-threads-{threads}.json"


def calibrate(options, folder: str, ranks: int, threads: int) -> dict:
    """The report, whose system lies in the folder afterwards."""
    extra = ["--quick"] if options.quick else []
    system = system_of(ranks, threads)
    kept = os.path.join(options.machines or folder, system + ".report")
    if not os.path.exists(kept):
        report = call(folder, options.ridge, "calibrate", "--ranks", str(ranks),
                      "--threads", str(threads), "--json", *extra, "-o", system)
        with open(kept, "w", encoding="utf-8") as f:
            f.write(report)
    with open(kept, encoding="utf-8") as f:
        report = json.load(f)
    with open(os.path.join(folder, system), "w", encoding="utf-8") as f:
        json.dump(report["system"], f)
    return report


def predict(options, folder: str, case: tuple) -> dict:
    model, ranks, threads, knobs, _ = case
    values = dict(DEFAULTS, **dict(k.split("=") for k in knobs.split()))
    return json.loads(call(
        folder, options.ridge, "train", model, "--on", f"{system_of(ranks, threads)}:{ranks}",
        "--batch", str(SEQ * BATCH_SEQS), "--seq", str(SEQ), "--precision", "fp32",
        *(f"{k}={v}" for k, v in values.items()), "--plan", "plan.json", "--json"))


def steps_for(options, predicted_s: float) -> int:
    wanted = 2 + round(MEASURED_S / predicted_s)
    return options.steps or min(MOST_STEPS, max(LEAST_STEPS, wanted))


def measure(options, folder: str, case: tuple, steps: int) -> dict:
    _, _, threads, _, extra = case
    words = [options.ridge, "run", "plan.json", "--data", "tokens.bin", "--steps",
             str(steps), "--threads", str(threads), "--json", *extra.split()]
    if options.traces:
        words += ["--trace", os.path.join(os.path.abspath(options.traces),
                                          "-".join([case[0], *case[3].split()]) + ".trace")]
    return json.loads(call(folder, *words))


def is_disturbed(result: dict) -> bool:
    """The middle half of the steps lies far apart: something else ran."""
    times = sorted(step["step_s"] for step in result["steps"][2:])
    if len(times) < 4:
        return False
    low, middle, high = statistics.quantiles(times, n=4)
    return high - low > DISTURBED * middle


def step_of(result: dict) -> float:
    return result["measured"]["step_time_s"]


def quicker_run(options, folder: str, case: tuple, steps: int) -> dict:
    result = measure(options, folder, case, steps)
    if not is_disturbed(result):
        return result
    return min(result, measure(options, folder, case, steps), key=step_of)


def compare(options, folder: str, case: tuple) -> dict:
    layouts = predict(options, folder, case)["layouts"]
    if not layouts:
        raise RuntimeError("no layout: " + case[3])
    predicted = layouts[0]["step_time_s"]
    result = quicker_run(options, folder, case, steps_for(options, predicted))
    measured = step_of(result)
    return {"case": case, "predicted": predicted, "measured": measured,
            "error": predicted / measured - 1, "breakdown": layouts[0]["breakdown"],
            "loaded": result["predicted"].get("loaded_step_time_s")}


def table(rows: list) -> list:
    lines = ["| model | ranks x threads | layout | predicted | measured | error |",
             "| --- | --- | --- | ---: | ---: | ---: |"]
    for row in rows:
        model, ranks, threads, knobs, extra = row["case"]
        layout = " ".join([knobs, *extra.split()[1:]])
        lines.append(f"| {model} | {ranks} x {threads} | {layout} | "
                     f"{1e3 * row['predicted']:.0f} ms | {1e3 * row['measured']:.0f} ms | "
                     f"{100 * row['error']:+.1f} % |")
    return lines


def loaded_text(rows: list) -> str:
    """What the model says of ranks with experts, once it is told how tokens chose them."""
    told = [f"{1e3 * r['loaded']:.0f} ms for `{r['case'][3]}` "
            f"({100 * (r['loaded'] / r['measured'] - 1):+.1f} %)"
            for r in rows if r["loaded"] and r["case"][1] > 1 and "ep=" in r["case"][3]]
    return ("At the load of experts that the run measured, the prediction is "
            + ", ".join(told) + ".") if told else ""


def summary(rows: list) -> str:
    errors = [abs(r["error"]) for r in rows]
    text = (f"{len(rows)} layouts: median error {100 * statistics.median(errors):.1f} %, "
            f"largest {100 * max(errors):.1f} %")
    few = [abs(r["error"]) for r in rows if not r["is_crowded"]]
    if few and len(few) < len(rows):
        text += (f"; {len(few)} without more threads than processors: median "
                 f"{100 * statistics.median(few):.1f} %")
    return text


def machine_section(rows: list, machine: dict) -> str:
    return "\n".join([
        machine_heading(machine), "",
        f"Products by {machine['library']}; {datetime.date.today().isoformat()}.", "",
        *table(rows), "", summary(rows) + ". " + loaded_text(rows), ""])


def machine_heading(machine: dict) -> str:
    return f"{MACHINE}{machine['cpu']}, {machine['processors']} processors"


def document(rows: list, machine: dict) -> None:
    """The section of this machine; those of others stay."""
    intro = [HEADING, "", "    tools/run_accuracy.py --ridge build/release/ridge --write", "",
             "`ridge calibrate` measures a machine, `ridge train --on` that file predicts, and "
             "`ridge run` carries out the same plan; no number",
             "is fitted to a layout. Median of the steps after the first two, of the quicker of "
             "two runs where steps differ much;",
             f"sequences of {SEQ} tokens, {BATCH_SEQS} a step, fp32. With more threads than "
             "processors ranks take turns on them, and are calibrated so.",
             "Routing is taken as even, but new weights do not route evenly: with ep a rank waits "
             "for the one that got more rows.", ""]
    with open(DOCUMENT, encoding="utf-8") as f:
        old = f.read()
    start, end = old.index(HEADING), old.index(NEXT_HEADING)
    own = machine_heading(machine)
    others = [MACHINE + s.rstrip("\n") + "\n"
              for s in old[start:end].split("\n" + MACHINE)[1:] if MACHINE + s.split("\n")[0] != own]
    sections = [machine_section(rows, machine), *others]
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(old[:start] + "\n".join(intro + sections) + "\n" + old[end:])


def run_cases(options, folder: str) -> tuple:
    rows, machines = [], {}
    write_inputs(folder)
    for case in CASES:
        if options.only and options.only not in " ".join(map(str, case)):
            continue
        key = case[1:3]
        try:
            if key not in machines:
                machines[key] = calibrate(options, folder, *key)
            rows.append(compare(options, folder, case))
        except RuntimeError as e:
            print(f"{case[0]} {case[3]}: {e}", file=sys.stderr)
            continue
        row = rows[-1]
        row["is_crowded"] = key[0] * key[1] > machines[key]["processors"]
        print(table([row])[-1], flush=True)
        if options.verbose:
            print({k: round(1e3 * v, 1) for k, v in row["breakdown"].items() if v > 0})
    return rows, machines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--steps", type=int, help="of each run (by the prediction)")
    parser.add_argument("--quick", action="store_true", help="quick calibrations")
    parser.add_argument("--only", help="cases with this word")
    parser.add_argument("--machines", help="folder of calibrations, kept and taken")
    parser.add_argument("--traces", help="folder for traces of the runs")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.ridge = os.path.abspath(options.ridge)
    if options.machines:
        os.makedirs(options.machines, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rows, machines = run_cases(options, folder)
    if not rows:
        print("run_accuracy: nothing ran", file=sys.stderr)
        return 1
    print(summary(rows))
    if options.write:
        document(rows, next(iter(machines.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
