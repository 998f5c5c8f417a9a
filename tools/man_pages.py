#!/usr/bin/env python3
"""docs/man holds what `ridge man` writes for the program and for each verb.

    man_pages.py --ridge PROGRAM            fail if a page differs, is missing or left over
    man_pages.py --ridge PROGRAM --write    rewrite the pages
"""
import argparse
import os
import sys

import program

FOLDER = os.path.join(program.ROOT, "docs", "man")


def output(ridge: str, command: str) -> str:
    code, out, err = program.run(ridge, command)
    if code != 0:
        raise SystemExit(f"man_pages: '{command}' failed with {code}: {err.strip()}")
    return out


def pages(ridge: str) -> dict:
    """File name and text of every page."""
    found = {"ridge.1": output(ridge, "ridge man")}
    for verb in output(ridge, "ridge names verbs").split():
        found[f"ridge-{verb}.1"] = output(ridge, f"ridge man {verb}")
    return found


def committed() -> dict:
    found = {}
    for name in sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []:
        if name.endswith(".1"):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
                found[name] = f.read()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    new, old = pages(args.ridge), committed()
    stale = sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))
    if args.write:
        os.makedirs(FOLDER, exist_ok=True)
        for name in stale:
            path = os.path.join(FOLDER, name)
            if name not in new:
                os.remove(path)
                continue
            with open(path, "w", encoding="utf-8") as f:
                f.write(new[name])
        print(f"man_pages: {len(new)} pages, {len(stale)} written")
        return 0
    for name in stale:
        print(f"docs/man/{name}:1: differs from what ridge man writes: run make docs")
    print(f"man_pages: {len(new)} pages, {len(stale)} differ")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
