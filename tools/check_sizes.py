#!/usr/bin/env python3
"""Files and functions that a reader can hold in mind.

A C file or tool over 500 lines or a function over 60 fails; over 40, more than five
parameters or more than three levels of nesting is warned of. A flat switch (ten cases or
more) may be longer; so may a file that a tool made, and that says so.
"""
import re
import sys

import tree

FILE_MOST = 500
ATTRIBUTE = re.compile(r"\bRIDGE_PRINTF\(\d+, \d+\)")
MADE = re.compile(r"Made from .* by tools/\w+\.py")
FUNCTION_MOST = 60
FUNCTION_WANTED = 40
PARAMETERS_WANTED = 5
LEVELS_WANTED = 3
SWITCH_CASES = 10


def functions(code: str) -> list:
    """(first line, body lines, signature) of each function: braces stand in column 0."""
    found = []
    lines = code.split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("{"):
            continue
        signature, at = [], number - 1
        while at >= 0 and lines[at].strip() and not lines[at].startswith(("}", "#")):
            signature.insert(0, lines[at])
            at -= 1
        if not signature or not signature[-1].rstrip().endswith(")"):
            continue
        end = number + 1
        while end < len(lines) and not lines[end].startswith("}"):
            end += 1
        found.append((number, lines[number + 1:end], " ".join(signature)))
    return found


def parameter_count(signature: str) -> int:
    """Those of the parameter list; a format and the arguments that it writes count once."""
    plain = ATTRIBUTE.sub("", signature)
    inner = plain[plain.find("(") + 1:plain.rfind(")")]
    flat = re.sub(r"\([^()]*\)", "", inner).replace(", ...", "")
    return flat.count(",") + 1 if flat.strip() not in ("", "void") else 0


def deepest(body: list) -> int:
    """Levels of nesting, by the indent of statements that open one."""
    control = re.compile(r"^( *)(?:\} )?(?:if|else|for|while|switch|do)\b")
    levels = [len(m.group(1)) // 4 for m in map(control.match, body) if m]
    return max(levels, default=0)


def check_functions(report, path, code):
    for first, body, signature in functions(code):
        name = re.search(r"(\w+)\s*\(", ATTRIBUTE.sub("", signature))
        name = name.group(1) if name else "?"
        line, size = first + 1, len(body)
        cases = sum(1 for text in body if re.match(r"\s*case\b", text))
        if size > FUNCTION_MOST and cases < SWITCH_CASES:
            report.fail(path, line, f"{name}: {size} lines, at most {FUNCTION_MOST}")
        elif size > FUNCTION_WANTED and cases < SWITCH_CASES:
            report.warn(path, line, f"{name}: {size} lines, {FUNCTION_WANTED} are wanted")
        if parameter_count(signature) > PARAMETERS_WANTED:
            report.warn(path, line, f"{name}: {parameter_count(signature)} parameters")
        if deepest(body) > LEVELS_WANTED:
            report.warn(path, line, f"{name}: {deepest(body)} levels of nesting")


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("sizes")
    looked_at = 0
    for path in tree.files(root, (".c", ".h", ".py")):
        looked_at += 1
        text = tree.read(root, path)
        lines = text.count("\n")
        if lines > FILE_MOST and not MADE.search(text[:400]):
            report.fail(path, lines, f"{lines} lines, at most {FILE_MOST}: find the second noun")
        if path.endswith(".c"):
            check_functions(report, path, tree.blank(text))
    return report.finish(looked_at)


if __name__ == "__main__":
    sys.exit(main())
