#!/usr/bin/env python3
"""Every C file is laid out as clang-format lays it out; `make format` mends it.

Without clang-format nothing can be said: exit code 77, which ctest counts as skipped.
"""
import os
import re
import shutil
import subprocess
import sys

import tree

COMPLAINT = re.compile(r"^(\S+?):(\d+):\d+: error: code should be clang-formatted", re.M)


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("format")
    if shutil.which("clang-format") is None:
        print("format: no clang-format here: scripts/install-deps --for check")
        return 77
    paths = tree.files(root, tree.C_SUFFIXES)
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", "--style=file"]
        + [os.path.join(root, path) for path in paths],
        capture_output=True, text=True, check=False)
    first = {}
    for path, line in COMPLAINT.findall(done.stderr):
        first.setdefault(os.path.relpath(path, root), int(line))
    for path, line in first.items():
        report.fail(path, line, "not laid out as clang-format does it: make format")
    if done.returncode != 0 and not first:
        report.fail(".clang-format", 1, done.stderr.strip().split("\n")[0])
    return report.finish(len(paths))


if __name__ == "__main__":
    sys.exit(main())
