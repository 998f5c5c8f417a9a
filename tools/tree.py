#!/usr/bin/env python3
"""The files of the tree, and C text with its comments and strings blanked.

As a program it prints the files: tree.py --suffix .c --suffix .h [--under src]
"""
import argparse
import os
import re
import subprocess
import sys

SKIPPED_FOLDERS = {"build", ".git", "__pycache__"}

C_SUFFIXES = (".c", ".h")

_TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S
)


def files(root: str, suffixes: tuple = (), under: str = "") -> list:
    """Paths below root with '/', sorted: those that git does not ignore."""
    names = _listed(root)
    if names is None:
        names = _walked(root)
    prefix = under.rstrip("/") + "/" if under else ""
    return sorted(
        name
        for name in names
        if name.startswith(prefix)
        and (not suffixes or name.endswith(tuple(suffixes)))
        and os.path.isfile(os.path.join(root, name))
    )


def _listed(root: str):
    if not os.path.exists(os.path.join(root, ".git")):
        return None
    try:
        command = ["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    if done.returncode != 0:
        return None
    return [name for name in done.stdout.decode("utf-8").split("\0") if name]


def _walked(root: str) -> list:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            found.append(path.replace(os.sep, "/"))
    return found


def read(root: str, path: str) -> str:
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def blank(text: str) -> str:
    """C text of the same length and lines, without what stands in comments and strings."""

    def spaces(match):
        kept = re.sub(r"[^\n]", " ", match.group())
        if match.group()[0] in "\"'":
            kept = match.group()[0] + kept[1:-1] + match.group()[0]
        return kept

    return _TOKEN.sub(spaces, text)


class Report:
    """Complaints of one check, printed as file:line: text; the exit code follows."""

    def __init__(self, name: str):
        self.name = name
        self.complaints = []
        self.warnings = []

    def fail(self, path: str, line: int, text: str) -> None:
        self.complaints.append((path, line, text))

    def warn(self, path: str, line: int, text: str) -> None:
        self.warnings.append((path, line, text))

    def finish(self, looked_at: int) -> int:
        for path, line, text in sorted(self.warnings):
            print(f"{path}:{line}: warning: {text}")
        for path, line, text in sorted(self.complaints):
            print(f"{path}:{line}: {text}")
        print(
            f"{self.name}: {looked_at} files, {len(self.complaints)} complaints, "
            f"{len(self.warnings)} warnings"
        )
        if looked_at == 0:
            print(f"{self.name}: nothing was looked at: is --root right?")
            return 1
        return 1 if self.complaints else 0


def root_argument(description: str) -> str:
    """The tree to look at: --root, or the one that this file is in."""
    parser = argparse.ArgumentParser(description=description)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--root", default=here)
    return parser.parse_args().root


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=".")
    parser.add_argument("--suffix", action="append", default=[])
    parser.add_argument("--under", default="")
    args = parser.parse_args()
    for path in files(args.root, tuple(args.suffix), args.under):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
