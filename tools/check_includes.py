#!/usr/bin/env python3
"""A header of src/ or include/ includes what it uses: some name that the included header
declares stands in it. Names are found by their form, so that what is in doubt passes;
so does a header that only gathers others.
"""
import re
import sys

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.M)
WORD = re.compile(r"\w+")
DECLARED = (
    re.compile(r"\b(?:struct|enum|union)\s+(\w+)"),
    re.compile(r"\}\s*(\w+)\s*;"),
    re.compile(r"\btypedef\b[^;{]*?\b(\w+)\s*[;(]"),
    re.compile(r"\b(\w+)\s*\("),
    re.compile(r"\bextern\b[^;]*?\b(\w+)(?:\[[^\]]*\])?\s*;"),
)
ENUM_BODY = re.compile(r"\benum\s*\w*\s*\{(.*?)\}", re.S)
STANDARD = {  # what ridge/base.h is included for as well
    "ridge/base.h": {"bool", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t"}
}


class Header:
    def __init__(self, path: str, text: str):
        code = tree.blank(text)
        plain = DIRECTIVE.sub("", code)
        self.includes = [(text.count("\n", 0, m.start()) + 1, m.group(1))
                         for m in INCLUDE.finditer(text)]
        self.words = set(WORD.findall(re.sub(r"^[ \t]*#[ \t]*include.*$", "", code, flags=re.M)))
        self.words -= set(re.findall(r"#ifndef (\w+_H)\b", code))
        self.pasted = tuple(re.findall(r"(\w+)##", code))
        self.names = set(re.findall(r"#[ \t]*define[ \t]+(\w+)", code))
        for form in DECLARED:
            self.names.update(form.findall(plain))
        for body in ENUM_BODY.findall(plain):
            self.names.update(WORD.findall(body))
        self.names |= STANDARD.get(as_included(path), set())


def as_included(path: str) -> str:
    """How others write it: ridge/plan.h; the bare name within a layer."""
    if path.startswith("include/"):
        return path[len("include/"):]
    return path.rpartition("/")[2]


def is_used(header: Header, included: Header) -> bool:
    return bool(included.names & header.words) or any(
        word.startswith(start) for start in included.pasted for word in header.words)


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("includes")
    headers = {}
    for under in ("include", "src"):
        for path in tree.files(root, (".h",), under):
            headers[path] = Header(path, tree.read(root, path))
    by_name = {as_included(path): header for path, header in headers.items()}
    for path, header in headers.items():
        for line, name in header.includes:
            included = by_name.get(name)
            if included and header.names and not is_used(header, included):
                report.fail(path, line, f"nothing of {name} is used: include what is")
    return report.finish(len(headers))


if __name__ == "__main__":
    sys.exit(main())
