#!/usr/bin/env python3
"""The outputs shown in Markdown files are the program's own.

A block that is kept true:

    <!-- output of: ridge chips h100 -->
    ```console
    $ ridge chips h100
    ...
    ```
    <!-- end of output -->

    readme_output.py --ridge PROGRAM [FILE ...]            fail if a block differs from the output
    readme_output.py --ridge PROGRAM [FILE ...] --write    rewrite the blocks

Without files: every Markdown file of the tree. Commands whose output is another every time
stand in a block that must run without fault, between `<!-- runs: COMMAND -->` and
`<!-- end of run -->`; it shows the command alone.

The command is one shell line that runs as if in the root of the tree; a line of several,
joined by &&, is shown as several. `lines 1-20:` before it keeps those lines of the output alone. How long a search took is masked when comparing.
"""
import argparse
import difflib
import os
import re
import sys

import program
import tree

BLOCK = re.compile(
    r"(<!-- output of: (?:lines (\d+)-(\d+): )?(.*?) -->\n)(.*?)(<!-- end of output -->)",
    re.S)


RUN = re.compile(r"(<!-- runs: (.*?) -->\n)(.*?)(<!-- end of run -->)", re.S)


def shown(command: str) -> str:
    """A line of several commands as several."""
    return "\n$ ".join(command.split(" && "))


def executed(ridge: str, match) -> str:
    """The inside of a block whose command must run."""
    command = match.group(2)
    code, _, err = program.run(ridge, command)
    if code != 0:
        raise SystemExit(f"readme_output: '{command}' failed with {code}: {err.strip()}")
    return f"```console\n$ {shown(command)}\n```\n"


def rendered(ridge: str, match) -> str:
    """The block's inside as the program prints it now."""
    _, first, last, command, _, _ = match.groups()
    code, out, err = program.run(ridge, command)
    if code > 1:
        raise SystemExit(f"readme_output: '{command}' failed with {code}: {err.strip()}")
    lines = out.rstrip("\n").split("\n")
    if first is not None:
        lines = lines[int(first) - 1:int(last)]
    text = "\n".join(line.rstrip() for line in lines)
    return f"```console\n$ {shown(command)}\n{text}\n```\n"


def differs(path: str, old: str, new: str) -> bool:
    """Print how the file's blocks differ, times masked. @return whether they do"""
    old, new = program.mask(old), program.mask(new)
    if old == new:
        return False
    sys.stdout.writelines(difflib.unified_diff(
        old.splitlines(True), new.splitlines(True), path, "printed now"))
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("files", nargs="*", help="in the tree")
    args = parser.parse_args()
    blocks, wrong = 0, 0
    for path in args.files or tree.files(program.ROOT, (".md",)):
        old = tree.read(program.ROOT, path)
        blocks += len(BLOCK.findall(old)) + len(RUN.findall(old))
        new = BLOCK.sub(lambda m: m.group(1) + rendered(args.ridge, m) + m.group(6), old)
        new = RUN.sub(lambda m: m.group(1) + executed(args.ridge, m) + m.group(4), new)
        if args.write and program.mask(new) != program.mask(old):
            with open(os.path.join(program.ROOT, path), "w", encoding="utf-8") as f:
                f.write(new)
        elif not args.write and differs(path, old, new):
            wrong += 1
    print(f"readme_output: {blocks} blocks, {wrong} files differ"
          + (": run make golden" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
