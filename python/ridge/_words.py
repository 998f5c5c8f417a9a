"""Values of Python as words of a command line."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import tempfile
import weakref
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

# What an option takes: a text of the command line, a number, a file, a list or a dict of such.
Value = Union[str, float, "os.PathLike[str]", Sequence[Any], Mapping[str, Any], None]
# A model: a name, a path, or an object whose to_dict() gives a config of transformers.
Model = Any
# A mesh: a text, a dict of axes and sizes, or an object whose shape is one.
Mesh = Any


def word(value: Any) -> str:
    """One value as the program reads it.

    >>> word(8192), word(4e6), word(0.25), word("4M")
    ('8192', '4000000', '0.25', '4M')
    >>> word({"x": 4, "y": 2}), word(["h100:1x8", "v5p:2x2x2"])
    ('x=4,y=2', 'h100:1x8,v5p:2x2x2')
    """
    if isinstance(value, Mapping):
        return ",".join(f"{key}={word(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(word(item) for item in value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value)


def mesh_word(mesh: Any) -> str:
    """A mesh as text; a mesh of JAX by the sizes of its axes, without importing it.

    >>> class Mesh:
    ...     shape = {"data": 4, "model": 2}
    >>> mesh_word(Mesh())
    'data=4,model=2'
    """
    shape = getattr(mesh, "shape", None)
    return word(shape if isinstance(shape, Mapping) else mesh)


class Folder:
    """A folder that goes with its object."""

    def __init__(self) -> None:
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="ridge-config-"))
        weakref.finalize(self, shutil.rmtree, self.path, True)


def model_word(model: Any) -> Tuple[str, Any]:
    """A model by name or path; a config of transformers through a folder of its own.

    :return: the word, and what must live as long as it is used

    >>> model_word("llama-3-8b")
    ('llama-3-8b', None)
    """
    to_dict = getattr(model, "to_dict", None)
    if isinstance(model, (str, os.PathLike)) or not callable(to_dict):
        return word(model), model if isinstance(model, os.PathLike) else None
    config = to_dict()
    folder = Folder()
    path = folder.path / _config_name(config) / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(config, default=str), encoding="utf-8")
    return str(path), folder


def _config_name(config: Mapping[str, Any]) -> str:
    """What answers call the model: the last part of its path on the hub, or its type.

    >>> _config_name({"_name_or_path": "Qwen/Qwen3-32B"}), _config_name({"model_type": "llama"})
    ('Qwen3-32B', 'llama')
    """
    name = str(config.get("_name_or_path") or config.get("model_type") or "model")
    return re.sub(r"[^\w.-]+", "-", name.rstrip("/").rsplit("/", 1)[-1]).strip("-.") or "model"


def option_words(options: Dict[str, Any]) -> List[str]:
    """``--name value`` of each option that is set; ``--name`` of a flag.

    >>> option_words({"on": "h100:1x8", "reasons": True, "what_if": {"hbm": "2x"}, "top": None})
    ['--on', 'h100:1x8', '--reasons', '--what-if', 'hbm=2x']
    """
    words: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.strip("_").replace("_", "-"))
        if value is not True:
            words.append(mesh_word(value) if name == "mesh" else word(value))
    return words


def knob_words(knobs: Mapping[str, Any]) -> List[str]:
    """``key=value`` of each knob.

    >>> knob_words({"tp": 8, "sp": True, "remat": "full"})
    ['tp=8', 'sp=1', 'remat=full']
    """
    return [
        f"{key}={int(value) if isinstance(value, bool) else word(value)}"
        for key, value in knobs.items()
        if value is not None
    ]
