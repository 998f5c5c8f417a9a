#!/usr/bin/env python3
"""Text that belongs in no file: paths of one machine, package hosts, merge marks, tabs.

Looks at every text file of the tree; file:line for each complaint.
"""
import os
import re
import sys

import tree

BINARY_SUFFIXES = (".bin", ".gz", ".png", ".svgz", ".safetensors", ".gguf")
UNREAD_FOLDERS = ("tests/fuzz/corpus/", "tests/golden/")
PUBLIC_FOLDERS = "usr|proc|dev|etc|tmp|sys|bin|opt|nonexistent|no|absent|missing"

RULES = [
    (re.compile(rf"(?<![\w.~/:<>\"'*)\]}}$%+-])/(?!(?:{PUBLIC_FOLDERS})/)[a-z]+/[\w.]"),
     "an absolute path of one machine"),
    (re.compile(r"\bsandbox", re.I), "a word about where it was written"),
    (re.compile(r"\b(?:deb\.debian\.org|pypi\.org|files\.pythonhosted|registry\.npmjs)"),
     "a package host"),
    (re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)"), "a merge mark"),
    (re.compile(r"\b(?:FIXME|XXX|HACK)\b"), "say what is missing, and what happens until then"),
    (re.compile(r"[ \t]+$"), "white space at the end of the line"),
    (re.compile("\r"), "a carriage return"),
]
TAB = re.compile(r"\t")


def rules_for(path: str) -> list:
    if path.endswith((".c", ".h", ".py", ".json", ".cmake")):
        return RULES + [(TAB, "a tab")]
    return RULES


def check_file(report, root, path):
    try:
        text = tree.read(root, path)
    except UnicodeDecodeError:
        report.fail(path, 1, "not UTF-8")
        return
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, why in rules_for(path):
            if pattern.search(line):
                report.fail(path, number, why)
    if text and not text.endswith("\n"):
        report.fail(path, text.count("\n") + 1, "no line end at the end of the file")


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("words")
    looked_at = 0
    for path in tree.files(root):
        is_own = path == "tools/" + os.path.basename(__file__)
        if is_own or path.endswith(BINARY_SUFFIXES) or path.startswith(UNREAD_FOLDERS):
            continue
        looked_at += 1
        check_file(report, root, path)
    return report.finish(looked_at)


if __name__ == "__main__":
    sys.exit(main())
