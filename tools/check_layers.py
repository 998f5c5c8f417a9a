#!/usr/bin/env python3
"""Every #include and every link of a layer must be an edge of tools/layers.txt.

Read: src/, include/ridge/, tests/, bench/ and the CMake files that declare layers and
tests. A test may use what the layer it is declared for may use, besides that layer.
"""
import os
import re
import sys

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
LAYER_CALL = re.compile(r"\bridge_layer\(\s*(\w+)([^)]*)\)", re.S)
TEST_CALL = re.compile(r"\bridge_test\(\s*(\w+)\s+(\w+)\s+LAYER\s+(\w+)")
FUZZ_CALL = re.compile(r"\bridge_fuzz\(\s*(\w+)\s+LAYER\s+(\w+)")
SUPPORT = re.compile(r"\bsupport/(\w+)\.c\b")


class Table:
    """tools/layers.txt: what each layer may include, and who may use a system header."""

    def __init__(self, root: str, report: tree.Report):
        self.allowed = {}
        self.system = {}
        path = "tools/layers.txt"
        for number, line in enumerate(tree.read(root, path).splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            name, _, rest = line.partition(":")
            if name.startswith("<"):
                self.system[name.strip("<> ")] = set(rest.split())
                continue
            for used in rest.split():
                if used not in self.allowed:
                    report.fail(path, number, f"{name} uses {used}, which is not to its left")
            self.allowed[name.strip()] = set(rest.split())

    def reachable(self, layer: str) -> set:
        return self.allowed.get(layer, set()) | {layer}


def layer_of_header(name: str, layers) -> str:
    """The layer of include/ridge/<name>.h: <layer>.h, or <layer>_<noun>.h."""
    before = name.partition("_")[0]
    return before if name not in layers and before in layers else name


def layer_of(path: str, layers, tests: dict):
    """The layer whose rules hold for a file; None for the test support and benchmarks."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ["include", "ridge"]:
        name = parts[2][: -len(".h")]
        return None if name == "ridge" else layer_of_header(name, layers)
    return tests.get(path)


def declared_tests(root: str) -> dict:
    """Test sources and the layer that each is declared for in a CMake file of tests/."""
    found = {}
    for path in tree.files(root, (".cmake", "CMakeLists.txt"), "tests"):
        text = re.sub(r"#[^\n]*", "", tree.read(root, path))
        for kind, noun, layer in TEST_CALL.findall(text):
            found[f"tests/{kind}/test_{noun}.c"] = layer
        for noun, layer in FUZZ_CALL.findall(text):
            found[f"tests/fuzz/fuzz_{noun}.c"] = layer
    found.update(support_of_one_layer(root))
    return found


def support_of_one_layer(root: str) -> dict:
    """Support that only one layer's tests list: it may see what that layer's tests see."""
    users = {}
    for path in tree.files(root, (".cmake",), "tests"):
        layer = re.split(r"[_.]", os.path.basename(path))[0]
        for noun in SUPPORT.findall(tree.read(root, path)):
            users.setdefault(noun, set()).add(layer)
    return {f"tests/support/{noun}{suffix}": layers.copy().pop()
            for noun, layers in users.items() if len(layers) == 1
            for suffix in (".c", ".h")}


def check_include(table, report, root, path, layer, number, quote, name):
    if quote == "<":
        users = table.system.get(name)
        if users is not None and layer is not None and layer not in users:
            report.fail(path, number, f"<{name}> may only be used by {', '.join(sorted(users))}")
        return
    if name.startswith("ridge/"):
        used = layer_of_header(name[len("ridge/"):-len(".h")], table.allowed)
        if used == "ridge":
            if layer not in (None, "cli"):
                report.fail(path, number, "ridge/ridge.h is for users of all layers")
        elif used not in table.allowed:
            report.fail(path, number, f"{name} belongs to no layer of tools/layers.txt")
        elif layer is not None and used not in table.reachable(layer):
            report.fail(path, number, f"{layer} may not use {used}")
        return
    check_private(report, root, path, layer, number, name)


def layer_folders(root: str, layer: str) -> list:
    """A layer's folder, and those in it."""
    own = f"src/{layer}"
    if not os.path.isdir(os.path.join(root, own)):
        return []
    inner = sorted(os.listdir(os.path.join(root, own)))
    return [own] + [f"{own}/{name}" for name in inner
                    if os.path.isdir(os.path.join(root, own, name))]


def check_private(report, root, path, layer, number, name):
    """A quoted name without ridge/: beside the file, the tested layer's, or support."""
    folders = [os.path.dirname(path)]
    if path.startswith("bench/"):
        folders.append("bench/support")
    if path.startswith("tests/"):
        folders += ["tests/support"]
    if layer and path.split("/")[0] in ("src", "tests"):
        folders += layer_folders(root, layer)
    if any(os.path.exists(os.path.join(root, folder, name)) for folder in folders):
        return
    report.fail(path, number, f'"{name}" is not beside this file: private headers stay there')


def check_links(table, report, root):
    for path in tree.files(root, ("CMakeLists.txt",), "src"):
        text = re.sub(r"#[^\n]*", "", tree.read(root, path))
        for call in LAYER_CALL.finditer(text):
            name, rest = call.groups()
            uses = re.search(r"\bUSES\b([\w\s]*?)(?:\bSOURCES\b|\bLIBRARIES\b|$)", rest)
            for used in uses.group(1).split() if uses else []:
                if used not in table.reachable(name):
                    line = text.count("\n", 0, call.start()) + 1
                    report.fail(path, line, f"{name} may not link {used}")


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("layers")
    table = Table(root, report)
    tests = declared_tests(root)
    looked_at = 0
    for path in tree.files(root, tree.C_SUFFIXES):
        if path.split("/")[0] not in ("src", "include", "tests", "bench"):
            continue
        looked_at += 1
        layer = layer_of(path, table.allowed, tests)
        if layer is not None and layer not in table.allowed:
            report.fail(path, 1, f"layer {layer} is not in tools/layers.txt")
            continue
        text = tree.read(root, path)
        for match in INCLUDE.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            check_include(table, report, root, path, layer, number, *match.groups())
    check_links(table, report, root)
    return report.finish(looked_at)


if __name__ == "__main__":
    sys.exit(main())
