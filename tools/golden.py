#!/usr/bin/env python3
"""Commands in, bytes out: compare the program with tests/golden/<verb>/<case>/.

    golden.py --ridge PROGRAM [CASE...]     compare; all cases by default
    golden.py --ridge PROGRAM --write       rewrite the expected outputs

A case is a folder: `cmd`, one shell line that starts with ridge and runs in the root of
the tree; `out` and `err`, its output (absent: empty); `code`, its exit code (absent: 0).
How long a search took is masked on both sides.
"""
import argparse
import difflib
import os
import sys

import program

GOLDEN = os.path.join(program.ROOT, "tests", "golden")


def all_cases() -> list:
    found = []
    for folder, _, names in os.walk(GOLDEN):
        if "cmd" in names:
            found.append(os.path.relpath(folder, GOLDEN))
    return sorted(found)


def expected(case: str, name: str, absent: str) -> str:
    path = os.path.join(GOLDEN, case, name)
    if not os.path.exists(path):
        return absent
    with open(path, encoding="utf-8") as f:
        return f.read()


def run(ridge: str, case: str) -> dict:
    code, out, err = program.run(ridge, expected(case, "cmd", "").strip())
    return {"code": f"{code}\n", "out": program.mask(out), "err": program.mask(err)}


def compare(ridge: str, case: str) -> bool:
    """Print the difference, if any. @return whether there was none"""
    same = True
    for name, got in run(ridge, case).items():
        want = program.mask(expected(case, name, "0\n" if name == "code" else ""))
        if got == want:
            continue
        same = False
        sys.stdout.writelines(difflib.unified_diff(
            want.splitlines(True), got.splitlines(True), f"{case}/{name}", "now"))
    return same


def write(ridge: str, case: str) -> None:
    for name, got in run(ridge, case).items():
        path = os.path.join(GOLDEN, case, name)
        is_default = got == ("0\n" if name == "code" else "")
        if is_default and os.path.exists(path):
            os.remove(path)
        elif not is_default and got != program.mask(expected(case, name, "")):
            with open(path, "w", encoding="utf-8") as f:
                f.write(got)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    cases = args.cases or all_cases()
    if args.write:
        for case in cases:
            write(args.ridge, case)
        print(f"golden: {len(cases)} cases written")
        return 0
    failed = [case for case in cases if not compare(args.ridge, case)]
    for case in failed:
        print(f"golden: {case} differs: review it, then make golden")
    print(f"golden: {len(cases) - len(failed)} of {len(cases)} cases as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
