#!/usr/bin/env python3
"""Nothing is left out: names are unique, each source is built, each test is declared.

Also: a C file, or its own header, opens with a comment that says what it knows, and the
Markdown files link only to files that exist.
"""
import os
import re
import sys

import tree

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def check_unique(report, paths):
    seen = {}
    for path in paths:
        name = os.path.basename(path)
        if name in seen:
            report.fail(path, 1, f"{seen[name]} has the same name")
        seen.setdefault(name, path)


def is_named(name, cmake):
    """Whether a CMake file names a source, or takes every one that is beside it."""
    takes_all = re.search(r"file\(\s*GLOB\s[^)]*\bCONFIGURE_DEPENDS\b[^)]*[\s/]\*\.c\s*\)", cmake)
    return takes_all or re.search(rf"(?<![\w/.]){re.escape(name)}\b", cmake)


def check_built(report, root, paths):
    for path in paths:
        folder, name = os.path.split(path)
        if not path.startswith("src/") or not name.endswith(".c"):
            continue
        layer = "/".join(folder.split("/")[:2])  # a layer's inner folders are built by it
        lists = os.path.join(layer, "CMakeLists.txt")
        if not os.path.exists(os.path.join(root, lists)):
            report.fail(path, 1, f"there is no {lists} to build it")
        elif not is_named(name, tree.read(root, lists)):
            report.fail(path, 1, f"not built: {lists} does not name it")


def check_declared(report, root, paths):
    cmake = "\n".join(
        re.sub(r"#[^\n]*", "", tree.read(root, path))
        for path in tree.files(root, (".cmake", "CMakeLists.txt"), "tests")
    )
    for path in paths:
        match = re.fullmatch(r"tests/(\w+)/(test|fuzz)_(\w+)\.c", path)
        if not match:
            continue
        kind, prefix, noun = match.groups()
        call = rf"ridge_fuzz\(\s*{noun}\b" if prefix == "fuzz" else (
            rf"ridge_test\(\s*{kind}\s+{noun}\b")
        if not re.search(call, cmake):
            report.fail(path, 1, "no CMake file of tests/ declares it")


def check_opening(report, root, paths):
    for path in paths:
        header = path[:-2] + ".h"
        if header != path and header in paths:
            continue  # its own header says it
        if not tree.read(root, path).startswith("/*"):
            report.fail(path, 1, "say first what this file knows and leaves to whom")


def check_links(report, root):
    for path in tree.files(root, (".md",)):
        for number, line in enumerate(tree.read(root, path).split("\n"), 1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                if not os.path.exists(os.path.join(root, os.path.dirname(path), target)):
                    report.fail(path, number, f"links to {target}, which is not there")


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("tree")
    paths = [
        path
        for path in tree.files(root, tree.C_SUFFIXES)
        if path.split("/")[0] in ("src", "include", "tests", "bench")
    ]
    private = [path for path in paths if not path.startswith("include/")]
    check_unique(report, private)
    check_built(report, root, paths)
    check_declared(report, root, paths)
    check_opening(report, root, paths)
    check_links(report, root)
    return report.finish(len(paths))


if __name__ == "__main__":
    sys.exit(main())
