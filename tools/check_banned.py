#!/usr/bin/env python3
"""Calls and constructs that the code does without (comments and strings are ignored).

Everywhere: the banned functions, #if inside a function, #if 0.
In src/: a dropped status, memory outside the arenas, printing, leaving, state.
A line may be excused by `banned: allow NAME, why` in a comment on it or just above.
"""
import re
import sys

import tree

EVERYWHERE = {
    "sprintf": "write through ridge_buf or snprintf",
    "vsprintf": "write through ridge_buf or vsnprintf",
    "strcpy": "copy with a length",
    "strcat": "append to a ridge_buf",
    "strncpy": "copy with a length",
    "strtok": "cut with ridge_str_cut",
    "gets": "read with a length",
    "atoi": "parse with ridge_parse_i64",
    "atol": "parse with ridge_parse_i64",
    "atoll": "parse with ridge_parse_i64",
    "atof": "parse with ridge_parse_double",
    "strtod": "parse with ridge_parse_double",
    "strtof": "parse with ridge_parse_double",
    "strtol": "parse with ridge_parse_i64",
    "strtoll": "parse with ridge_parse_i64",
    "rand": "use a seeded generator",
    "srand": "use a seeded generator",
    "setlocale": "nothing may depend on the locale",
    "alloca": "use the scratch arena",
    "system": "start no shell",
    "popen": "start no shell",
}
BASE_MAY = {"strtod", "strtol", "strtoll"}

MEMORY = ("malloc", "calloc", "realloc", "free", "strdup", "strndup", "asprintf",
          "aligned_alloc", "posix_memalign", "open_memstream")
LEAVING = ("abort", "exit", "_exit", "quick_exit")
PRINTING = ("printf", "puts", "putchar", "perror", "vprintf")

CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef)\b", re.M)
IF_ZERO = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b", re.M)
DROPPED = re.compile(r"\(void\)\s*ridge_\w+\s*\(")
STATIC = re.compile(r"^[ \t]*static\s+(?!inline\b)(?!_Noreturn\b)([^;={}()]*?)([=;])", re.M)
GLOBAL = re.compile(
    r"^(?!static\b|typedef\b|extern\b|return\b|struct\s+\w+;|enum\s+\w+;|union\s+\w+;)"
    r"([A-Za-z_][^;={}()#\n]*?[\s*]\w+(?:\[[^\]]*\])*)\s*([=;])", re.M)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def depths(code: str) -> list:
    """Depth in braces at the start of each line, preprocessor lines left out."""
    depth, found = 0, [0]
    continued = False
    for line in code.split("\n"):
        is_directive = continued or line.lstrip().startswith("#")
        continued = is_directive and line.rstrip().endswith("\\")
        if not is_directive:
            depth += line.count("{") - line.count("}")
        found.append(depth)
    return found


def function_lines(code: str) -> set:
    """Numbers of the lines within function bodies (an opening brace in column 0)."""
    inside, found = False, set()
    lines = code.split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside:
            found.add(number)
    return found


def is_constant(declaration: str) -> bool:
    """Whether what is declared (not only what it points at) is const."""
    before, star, after = declaration.rpartition("*")
    return "const" in (after if star else declaration).split()


class File:
    def __init__(self, root, path, report):
        self.path = path
        self.text = tree.read(root, path)
        self.lines = self.text.split("\n")
        self.code = tree.blank(self.text)
        self.report = report
        self.layer = path.split("/")[1] if path.startswith("src/") else None
        self.is_library = self.layer not in (None, "cli")

    def fail(self, at: int, name: str, why: str) -> None:
        number = line_of(self.code, at)
        near = " ".join(self.lines[max(0, number - 2):number])
        if f"banned: allow {name}" in near:
            return
        self.report.fail(self.path, number, f"{name}: {why}")

    def check_calls(self) -> None:
        for match in CALL.finditer(self.code):
            name = match.group(1)
            if name in EVERYWHERE and not (self.layer == "base" and name in BASE_MAY):
                self.fail(match.start(), name, EVERYWHERE[name])
            if self.layer not in (None, "base", "execute") and name in MEMORY:
                self.fail(match.start(), name, "memory comes from the ctx's arenas")
            if self.is_library and name in LEAVING:
                self.fail(match.start(), name, "a library returns a status")
            if self.is_library and name in PRINTING:
                self.fail(match.start(), name, "a library does not print")

    def check_conditionals(self) -> None:
        inside = function_lines(self.code)
        for match in CONDITIONAL.finditer(self.code):
            if line_of(self.code, match.start()) in inside:
                self.fail(match.start(), "#if", "choose whole files in CMake instead")
        for match in IF_ZERO.finditer(self.code):
            self.fail(match.start(), "#if 0", "delete the code")
        for match in DROPPED.finditer(self.code) if self.layer else ():
            self.fail(match.start(), "(void)", "handle or forward the status")

    def check_state(self) -> None:
        for match in STATIC.finditer(self.code):
            if not is_constant(match.group(1)):
                self.fail(match.start(), "static", "no mutable state: make it const")
        depth = depths(self.code)
        for match in GLOBAL.finditer(self.code):
            at_top = depth[line_of(self.code, match.start()) - 1] == 0
            if at_top and not is_constant(match.group(1)):
                self.fail(match.start(), "global", "no mutable state: make it const")


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("banned")
    looked_at = 0
    for path in tree.files(root, tree.C_SUFFIXES):
        if path.split("/")[0] not in ("src", "include", "tests", "bench"):
            continue
        looked_at += 1
        file = File(root, path, report)
        file.check_calls()
        file.check_conditionals()
        if path.startswith("src/") and path.endswith(".c"):
            file.check_state()
    return report.finish(looked_at)


if __name__ == "__main__":
    sys.exit(main())
