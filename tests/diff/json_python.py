#!/usr/bin/env python3
"""Random JSON documents as Python's json writes them: Ridge reads the same values.

Also: what Python refuses, Ridge refuses, but for the few things that it takes on purpose.
"""
import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys

DOCUMENTS = 400
BROKEN = 400
DIGITS = 5e-12  # Ridge prints twelve digits: half of the last one
CHARACTERS = "aZ09 \"\\/\b\n\t{}[],:\u00b5\u2500\U0001f300\u007f\u0001NI-"


def random_text(rng):
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(12)))


def random_real(rng):
    if rng.random() < 0.1:
        return rng.choice([math.nan, math.inf, -math.inf])
    if rng.random() < 0.5:
        return rng.uniform(-1e6, 1e6)
    real = struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0]
    return real if abs(real) < 1.7e308 else 0.0  # or its twelve digits would overflow


def random_value(rng, depth):
    kind = rng.randrange(9 if depth > 0 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-2**63, 2**63) >> rng.randrange(64)
    if kind == 2:
        return rng.choice([rng.randrange(-1000, 1000), rng.randrange(-10**30, 10**30)])
    if kind == 3:
        return random_real(rng)
    if kind in (4, 5):
        return random_text(rng)
    if kind == 6:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(6))]
    return {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(6))}


def is_same(python, ridge):
    if isinstance(python, float) and not math.isfinite(python):
        return ridge is None
    if type(python) is int and not -2**63 <= python < 2**63:
        python = float(python)
    if isinstance(python, float):
        return isinstance(ridge, float) and abs(python - ridge) <= max(
            DIGITS * abs(python), 5e-324)
    if type(python) is not type(ridge):
        return False
    if isinstance(python, list):
        return len(python) == len(ridge) and all(map(is_same, python, ridge))
    if isinstance(python, dict):
        return list(python) == list(ridge) and all(
            is_same(python[key], ridge[key]) for key in python)
    return python == ridge


def broken(rng, text):
    """A text with one character dropped, doubled or replaced."""
    at = rng.randrange(len(text))
    return rng.choice([
        text[:at] + text[at + 1:],
        text[:at] + text[at] + text[at:],
        text[:at] + rng.choice("{}[],:\"\\0-+.eE \nx") + text[at + 1:],
    ])


def python_takes(text):
    try:
        return True, json.loads(text)
    except ValueError:
        return False, None


def echo(program, folder, texts):
    """What the program makes of each text: a value, or the message of its refusal."""
    paths = []
    for number, text in enumerate(texts):
        path = os.path.join(folder, f"{number}.json")
        with open(path, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        paths.append(path)
    out = subprocess.run([program, *paths], stdout=subprocess.PIPE, check=True).stdout
    for path in paths:
        os.unlink(path)
    return out.decode("utf-8").split("\0")[:-1]


def check_read(rng, program, folder):
    values = [random_value(rng, 5) for _ in range(DOCUMENTS)]
    texts = [
        json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1, 4]))
        for value in values
    ]
    failures = 0
    for text, answer in zip(texts, echo(program, folder, texts), strict=True):
        is_refused = answer.startswith("refused")
        if is_refused or not is_same(json.loads(text), json.loads(answer)):
            print(f"differs: {text!r}: {answer!r}")
            failures += 1
    return failures


def check_broken(rng, program, folder):
    texts = []
    while len(texts) < BROKEN:
        text = json.dumps(random_value(rng, 3))
        texts.append(broken(rng, text))
    failures = 0
    for text, answer in zip(texts, echo(program, folder, texts), strict=True):
        is_taken, value = python_takes(text)
        is_refused = answer.startswith("refused ")
        # Taken by Python alone: a half of a surrogate pair, a real beyond a double, NUL.
        is_lenient = any(
            word in answer for word in ("Unicode", "overflow", "\\u0000", "UTF-8"))
        if is_refused and is_taken and not is_lenient:
            print(f"refused, though Python takes it: {text!r}: {answer}")
            failures += 1
        elif not is_refused and not is_taken:
            print(f"taken, though Python refuses it: {text!r}")
            failures += 1
        elif not is_refused and not is_same(value, json.loads(answer)):
            print(f"differs: {text!r}: {answer!r}")
            failures += 1
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--echo", required=True, help="the program of json_echo.c")
    parser.add_argument("--folder", required=True, help="where documents may be written")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    rng = random.Random(options.seed)
    failures = check_read(rng, options.echo, options.folder)
    failures += check_broken(rng, options.echo, options.folder)
    print(f"json_python: seed {options.seed}, {DOCUMENTS} documents, {BROKEN} broken ones, "
          f"{failures} failures")
    return 1 if failures > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
