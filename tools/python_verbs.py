#!/usr/bin/env python3
"""python/ridge/verbs.py is what the program's table of verbs makes of it.

    python_verbs.py --ridge PROGRAM            fail if it differs
    python_verbs.py --ridge PROGRAM --write    rewrite it
"""
import argparse
import json
import keyword
import os
import re
import shlex
import sys
import textwrap

import program

FILE = os.path.join(program.ROOT, "python", "ridge", "verbs.py")
RESULTS = {
    "chips": "Chips", "model": "Model", "roofline": "Roofline", "collective": "Collective",
    "shard": "Sharding", "size": "Sizing", "train": "Training", "serve": "Serving",
    "simulate": "Simulation", "profile": "Profile", "hlo": "Module", "explain": "Derivation",
    "validate": "Validation", "export": "Launch",
}
LEFT_OUT = {"ui"}  # verbs that answer no object
HEAD = '''"""The verbs as functions. Made from the program's own table by tools/python_verbs.py.

Positional parameters are the words behind the verb, keywords its options (``--what-if`` is
``what_if``), any other keyword a knob: ``tp=8``. Flags are True. Numbers may be numbers or texts
such as "4M". A model may be a name, a path, or a config object of transformers; a mesh a text,
a dict, or a Mesh of JAX.
"""

from __future__ import annotations

from typing import Any, List

from . import results
from ._answer import answer
from ._words import Mesh, Model, Value, knob_words, model_word, option_words, word

'''


def identifier(name: str) -> str:
    name = name.lower().replace("-", "_").replace("|", "_or_")
    return name + "_" if keyword.iskeyword(name) else name


def positions(verb: dict):
    """(name, is optional, is many) of each word, and whether knobs follow."""
    found, knobs = [], verb["takes_knobs"]
    synopsis = re.sub(r"--\S+ [A-Z]+", "", verb["synopsis"])  # of options: keywords
    for text in re.findall(r"\[[^\]]*\]|\S+", synopsis):
        is_optional = text.startswith("[")
        text = text.strip("[]")
        if "=" in text:
            knobs = True
            continue
        many = text.endswith("...")
        found.append((identifier(text.replace("...", "").strip()), is_optional, many))
    return found, knobs


TYPES = {"model": "Model", "plan_or_model": "Model", "mesh": "Mesh"}


def hint(name: str) -> str:
    return TYPES.get(name, "Value")


def parameters(verb: dict):
    words, knobs = positions(verb)
    rows = []
    for name, is_optional, many in words:
        if many:
            rows.append(f"*{name}: {hint(name)}")
        else:
            rows.append(f"{name}: {hint(name)}" + (" = None" if is_optional else ""))
    has_many = any(many for _, _, many in words)
    if verb["options"] and not has_many:
        rows.append("*")
    for option in verb["options"]:
        name = identifier(option["name"])
        kind = "bool = False" if option["value"] is None else f"{hint(name)} = None"
        rows.append(f"{name}: {kind}")
    if knobs:
        rows.append("**knobs: Value")
    return rows


def literal(text: str) -> str:
    return text if re.fullmatch(r"[1-9]\d{0,8}", text) else json.dumps(text)


def call(verb: dict) -> str:
    """The verb's example as a call of its function."""
    flags = {o["name"] for o in verb["options"] if o["value"] is None}
    arguments, words = [], shlex.split(verb["example"])[2:]
    while words:
        text = words.pop(0)
        if text.startswith("--"):
            name = text[2:]
            value = "True" if name in flags else literal(words.pop(0))
            arguments.append(f"{identifier(name)}={value}")
        elif verb["takes_knobs"] and re.fullmatch(r"[a-z_]+=\S+", text):
            name, value = text.split("=", 1)
            arguments.append(f"{name}={literal(value)}")
        else:
            arguments.append(literal(text))
    return f"ridge.{verb['name']}({', '.join(arguments)})"


def docstring(verb: dict) -> str:
    lines = [verb["summary"][0].upper() + verb["summary"][1:] + ".", ""]
    lines += textwrap.dedent(verb["detail"]).splitlines()
    if verb["options"]:
        lines.append("")
    for option in verb["options"]:
        about = f":param {identifier(option['name'])}: {option['help']}"
        lines += textwrap.wrap(about, 92, subsequent_indent="    ")
    lines += ["", ">>> import ridge", f">>> {call(verb)}.verb", f"'{verb['name']}'"]
    lines += ["", f"On the command line: ``{verb['example']}``"]
    text = "\n".join(("    " + line).rstrip() for line in lines).replace("\\", "\\\\")
    return '    """' + text.lstrip().replace('"""', "'''") + '\n    """'


def body(verb: dict) -> list:
    words, knobs = positions(verb)
    names = [name for name, _, _ in words]
    lines = ["    held: Any = None"]
    lines.append(f"    words: List[str] = [\"{verb['name']}\"]")
    for name, is_optional, many in words:
        if hint(name) == "Model":
            add = [f"text, held = model_word({name})", "words.append(text)"]
        elif many:
            add = [f"words += [word(item) for item in {name}]"]
        else:
            add = [f"words.append(word({name}))"]
        if is_optional and not many:
            lines.append(f"    if {name} is not None:")
            lines += ["        " + a for a in add]
        else:
            lines += ["    " + a for a in add]
    if knobs:
        lines.append("    words += knob_words(knobs)")
    if verb["options"]:
        lines.append("    words += option_words({")
        for option in verb["options"]:
            name = identifier(option["name"])
            lines.append(f"        \"{option['name'].replace('-', '_')}\": {name},")
        lines.append("    })")
    kind = "results." + RESULTS.get(verb["name"], "Answer")
    lines.append(f"    return answer({kind}, words, held)")
    return lines


def function(verb: dict) -> str:
    kind = "results." + RESULTS.get(verb["name"], "Answer")
    rows = parameters(verb)
    head = [f"def {verb['name']}("] + [f"    {row}," for row in rows] + [f") -> {kind}:"]
    if rows and rows[-1].startswith("**"):
        head[-2] = head[-2].rstrip(",") + ","
    return "\n".join([*head, docstring(verb), *body(verb)])


def module(ridge: str) -> str:
    code, out, err = program.run(ridge, "ridge names table")
    if code != 0:
        raise SystemExit(f"python_verbs: the table was not written: {err.strip()}")
    verbs = [v for v in json.loads(out) if not v["is_live"] and v["name"] not in LEFT_OUT]
    names = ", ".join(f'"{v["name"]}"' for v in verbs)
    return "\n\n\n".join([HEAD + f"__all__ = [{names}]", *(function(v) for v in verbs)]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    new = module(args.ridge)
    compile(new, FILE, "exec")  # a synopsis that no parameter can be made of fails here
    old = None
    if os.path.exists(FILE):
        with open(FILE, encoding="utf-8") as f:
            old = f.read()
    if args.write:
        with open(FILE, "w", encoding="utf-8") as f:
            f.write(new)
        print(f"python_verbs: {'rewritten' if new != old else 'as it was'}")
        return 0
    if new != old:
        print("python/ridge/verbs.py:1: differs from the program's table: run make docs")
        return 1
    print("python_verbs: as the program's table has it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
