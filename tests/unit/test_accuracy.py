#!/usr/bin/env python3
"""The accuracy gate fails when a median was better before, and when rows are lost."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(ROOT, "tests", "golden", "accuracy", "recorded.json")


def gate(ridge: str, recorded: dict) -> tuple:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(recorded, f)
        f.flush()
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(ROOT, "tools", "accuracy.py"), "--ridge", ridge,
             "--recorded", f.name], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", required=True)
    ridge = parser.parse_args().ridge
    with open(RECORDED, encoding="utf-8") as f:
        recorded = json.load(f)
    recorded["gemm.csv"]["h100"]["median"] -= 0.03
    recorded["attention.csv"]["all rows"]["rows"] += 1
    del recorded["tpu.csv"]
    code, out = gate(ridge, recorded)
    wanted = ["gemm.csv: h100: median error", "attention.csv: all rows: ",
              "tpu.csv: not recorded", "3 worse than recorded"]
    missing = [w for w in wanted if w not in out]
    if code != 1 or missing:
        print(f"exit {code}, without {missing}:\n{out}")
        return 1
    print("accuracy gate: 4 of 4 said")
    return 0


if __name__ == "__main__":
    sys.exit(main())
