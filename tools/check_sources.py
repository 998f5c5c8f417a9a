#!/usr/bin/env python3
"""Every source that code or data cites is a key of docs/sources.md.

Code: what follows `@source` in a comment, up to the end of the comment, an empty line or
the next `@`; several are parted by `;`. Data: each "source" of data/**/*.json. A citation
starts with its key (or with the path of a design page); more may follow, as a chapter.
Keys stand in alphabetical order, once each: `- **key** — author, title, year.`
"""
import json
import os
import re
import sys

import tree

LIST = "docs/sources.md"
ENTRY = re.compile(r"^- \*\*([^*]+)\*\* (?:—|--|-) \S")
CITATION = re.compile(r"@source\s(.*?)(?=\*/|\n[ \t]*\*?[ \t]*\n|\n[ \t]*\*?[ \t]*@)", re.S)
# A year makes a key recognisable within running text.
DATED_KEY = re.compile(r"(?<![\w./-])[a-z][a-z0-9.-]*?(?:19|20)\d\d[a-z]?(?:-[a-z0-9-]+)?\b")


def listed_keys(report, root) -> set:
    keys, last = set(), ""
    for number, line in enumerate(tree.read(root, LIST).split("\n"), 1):
        match = ENTRY.match(line)
        if not match:
            if line.startswith("- "):
                report.fail(LIST, number, "not of the form '- **key** — author, title, year.'")
            continue
        key = match.group(1)
        if key in keys:
            report.fail(LIST, number, f"{key} stands here twice")
        elif key < last:
            report.fail(LIST, number, f"{key} comes before {last} in the alphabet")
        keys.add(key)
        last = max(key, last)
    return keys


def cited_in_text(text: str) -> list:
    """Keys of one citation: the first word of each part, and every dated key."""
    text = re.sub(r"\n[ \t]*\*?", " ", text)
    heads = [part.split()[0].strip(".,:()") for part in text.split(";") if part.split()]
    return list(dict.fromkeys(heads + DATED_KEY.findall(text)))


def cited_in_data(value) -> list:
    """Keys of every "source" below a JSON value."""
    if isinstance(value, list):
        return [key for item in value for key in cited_in_data(item)]
    if not isinstance(value, dict):
        return []
    found = []
    for name, item in value.items():
        if name == "source" and isinstance(item, str):
            found += cited_in_text(item) if item.strip() else ["(empty)"]
        else:
            found += cited_in_data(item)
    return found


def check_code(report, root, keys, used):
    paths = tree.files(root, tree.C_SUFFIXES, "src") + tree.files(root, (".h",), "include")
    for path in paths:
        text = tree.read(root, path)
        for match in CITATION.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            for key in cited_in_text(match.group(1)):
                used.add(key)
                is_page = key.startswith("docs/") and os.path.exists(os.path.join(root, key))
                if key not in keys and not is_page:
                    report.fail(path, line, f"source '{key}' is not in {LIST}")
    return len(paths)


def check_data(report, root, keys, used):
    paths = tree.files(root, (".json",), "data")
    for path in paths:
        if path.startswith("data/schema/"):
            continue
        try:
            value = json.loads(tree.read(root, path))
        except json.JSONDecodeError as error:
            report.fail(path, error.lineno, f"not JSON: {error.msg}")
            continue
        for key in sorted(set(cited_in_data(value))):
            used.add(key)
            if key not in keys:
                report.fail(path, 1, f"source '{key}' is not in {LIST}")
    return len(paths)


def main() -> int:
    root = tree.root_argument(__doc__)
    report = tree.Report("sources")
    keys, used = listed_keys(report, root), set()
    looked_at = check_code(report, root, keys, used) + check_data(report, root, keys, used)
    documents = "".join(
        tree.read(root, path) for path in tree.files(root, (".md", ".jsonl")) if path != LIST)
    for key in sorted(keys - used):
        if key not in documents:
            report.warn(LIST, 1, f"{key} is cited nowhere")
    return report.finish(looked_at)


if __name__ == "__main__":
    sys.exit(main())
