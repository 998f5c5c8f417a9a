"""Answers: the objects of ``--json`` with their members as attributes, as text, as a page."""

from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from typing import Any, ClassVar, Dict, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar

from . import _library, _words


class RidgeError(ValueError):
    """Bad usage or input; the text says what is wrong and how to mend it."""


def _wrap(value: Any, kind: Type[Record]) -> Any:
    if isinstance(value, dict):
        return kind(value)
    if isinstance(value, list):
        return Rows(_wrap(item, kind) for item in value)
    return value


def _cell(value: Any) -> str:
    """A value in a table: four digits of a real, a dash for nothing, of a mesh its cuts."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        cuts = [f"{axis} {ways}" for axis, ways in value.items() if ways != 1]
        return " ".join(cuts) or "one chip"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


ItemOf = TypeVar("ItemOf")


class Rows(List[ItemOf]):
    """A list of an answer. Records print as a table, and show as one in a notebook.

    >>> rows = Rows([Record({"name": "h100", "watts": 700.0}), Record({"name": "v5p", "watts": None})])
    >>> print(rows)
    name  watts
    h100  700
    v5p   -
    >>> rows.to_dicts()
    [{'name': 'h100', 'watts': 700.0}, {'name': 'v5p', 'watts': None}]
    >>> rows[1].name
    'v5p'
    >>> print(rows[:1])
    name  watts
    h100  700
    """

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return Rows(found) if isinstance(at, slice) else found

    def _records(self) -> List[Record]:
        return [item for item in self if isinstance(item, Record)]

    def _columns(self) -> List[str]:
        """What their type shows; else members that are no lists or objects, in their order."""
        shown = [key for row in self._records()[:1] for key in row._shown]
        if shown:
            return shown
        return list(dict.fromkeys(key for row in self._records() for key in row._plain()))

    def _lines(self) -> List[List[str]]:
        columns = self._columns()
        return [columns, *([_cell(row._values.get(key)) for key in columns] for row in self._records())]

    def to_dicts(self) -> List[Any]:
        """The records as plain dicts, of their own; ready for ``pandas.DataFrame``."""
        return [item.to_dict() if isinstance(item, Record) else item for item in self]

    def __str__(self) -> str:
        if not self._records():
            return list.__repr__(self)
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        if not self._records():
            return f"<pre>{html.escape(list.__repr__(self))}</pre>"
        head, *body = self._lines()
        titles = "".join(f"<th>{html.escape(key)}</th>" for key in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in body
        )
        return f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"


class Record(Mapping[str, Any]):
    """An object of an answer. Members are attributes and keys; SI units by their names.

    >>> chip = Record({"name": "h100", "hbm_bytes": 8e10})
    >>> chip.name, chip["hbm_bytes"]
    ('h100', 80000000000.0)
    >>> chip.to_dict()
    {'name': 'h100', 'hbm_bytes': 80000000000.0}
    """

    _kinds: ClassVar[Dict[str, Type[Record]]] = {}  # of members that are objects or lists of them
    _shown: ClassVar[Sequence[str]] = ()  # members of a table of them; none named: all plain ones

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return _wrap(self._values[key], self._kinds.get(key, Record))

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            known = ", ".join(values)
            raise AttributeError(f"no member '{name}': there are {known}")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self._plain().items())
        return f"{type(self).__name__}({inside})"

    def _plain(self) -> Dict[str, Any]:
        """Members that are no lists or objects."""
        return {k: v for k, v in self._values.items() if not isinstance(v, (dict, list))}

    def to_dict(self) -> Dict[str, Any]:
        """The members as plain dicts and lists, of their own."""
        return json.loads(json.dumps(self._values))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(key)}</th>"
            f"<td style='text-align:right'>{html.escape(str(value))}</td></tr>"
            for key, value in self._plain().items()
        )
        return f"<table>{rows}</table>"


class Answer(Record):
    """What a verb answers. ``print(answer)`` gives the program's text."""

    def __init__(self, values: Dict[str, Any], words: Sequence[str], held: Any = None) -> None:
        super().__init__(values)
        self._words = list(words)
        self._held = held  # a folder with the caller's config, as long as the answer lives
        self._text: Optional[str] = None

    @property
    def text(self) -> str:
        """As the program prints it."""
        if self._text is None:
            self._text = _ask(self._words).out.rstrip("\n")
        return self._text

    def __str__(self) -> str:
        return self.text

    def page(self) -> str:
        """A self-contained HTML page with the charts of the verb."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            _ask([*self._words, "--html", str(path)])
            if not path.exists():
                raise RidgeError(f"ridge {self._words[0]} has no page: use _repr_html_ or text")
            return path.read_text(encoding="utf-8")

    def save_page(self, path: Any) -> None:
        """Write the page to a file."""
        pathlib.Path(path).write_text(self.page(), encoding="utf-8")

    def _repr_html_(self) -> str:
        try:
            page = self.page()
        except RidgeError:
            return f"<pre>{html.escape(self.text)}</pre>"
        return (
            f'<iframe srcdoc="{html.escape(page, quote=True)}" title="ridge {self._words[0]}" '
            'style="width:100%;height:40em;border:0"></iframe>'
        )


class Planned(Answer):
    """An answer of layouts, the best first; none where nothing fits or keeps the goals."""

    def plan(self) -> Plan:
        """The best layout as a plan, for `explain`, `simulate`, `export` and `profile`."""
        return Plan(self._words, self._held)


class Plan(os.PathLike):  # type: ignore[type-arg]
    """A plan file that lives as long as this object; `save` keeps it.

    >>> import ridge
    >>> plan = ridge.train("llama-3-8b", on="h100:1x8", batch="1M", tp=8).plan()
    >>> plan.to_dict()["format"]
    'ridge-plan'
    >>> ridge.explain(plan, "step_time").title
    'step_time of llama-3-8b on h100:1x8'
    """

    def __init__(self, words: Sequence[str], held: Any) -> None:
        self._folder = _words.Folder()
        self._held = held  # the plan may name the caller's config
        self._path = self._folder.path / "plan.json"
        _ask([*words, "--top", "1", "--plan", str(self._path)])
        if not self._path.exists():
            raise RidgeError("there is no plan: nothing fits, or nothing keeps the goals")

    def __fspath__(self) -> str:
        return str(self._path)

    def __repr__(self) -> str:
        return f"Plan({self._path})"

    def to_dict(self) -> Dict[str, Any]:
        """The plan as plain dicts and lists."""
        return json.loads(self._path.read_text(encoding="utf-8"))

    def save(self, path: Any) -> None:
        """Write the plan to a file of your own."""
        pathlib.Path(path).write_text(self._path.read_text(encoding="utf-8"), encoding="utf-8")


def _ask(words: Sequence[str]) -> _library.Reply:
    reply = _library.ask(words)
    if reply.code == 2:
        raise RidgeError(reply.err.strip().replace("ridge: ", "", 1))
    return reply


AnswerOf = TypeVar("AnswerOf", bound=Answer)


def answer(kind: Type[AnswerOf], words: Sequence[str], held: Any = None) -> AnswerOf:
    """Ask, and read the object. Where nothing fits or fails a goal (exit code 1), the object
    says so."""
    reply = _ask([*words, "--json"])
    try:
        values = json.loads(reply.out)
    except ValueError:
        raise RidgeError(reply.err.strip() or reply.out.strip()) from None
    return kind(values, words, held)
