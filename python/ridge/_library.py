"""The shared library: found, loaded, and asked one command line at a time."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
from typing import List, NamedTuple, Optional, Sequence


class _Text(ctypes.Structure):
    """ridge_str of ridge/base.h."""

    _fields_ = [("p", ctypes.c_void_p), ("n", ctypes.c_size_t)]

    def text(self) -> str:
        return ctypes.string_at(self.p, self.n).decode("utf-8", "replace") if self.p else ""


class _Answer(ctypes.Structure):
    """ridge_answer of ridge/cli_answer.h."""

    _fields_ = [("code", ctypes.c_int), ("out", _Text), ("err", _Text)]


class Reply(NamedTuple):
    """What the program says to a command line, and its exit code."""

    code: int
    out: str
    err: str


def _candidates() -> List[str]:
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("RIDGE_LIBRARY")
    if named:
        return [named]
    found = [str(path) for path in sorted(here.glob("libridge.so*"))]
    system = ctypes.util.find_library("ridge")
    return found + ([system] if system else []) + ["libridge.so.0"]


def _load() -> ctypes.CDLL:
    complaints = []
    for name in _candidates():
        try:
            return _declare(ctypes.CDLL(name))
        except OSError as error:
            complaints.append(str(error))
    raise ImportError(
        "libridge was not found (" + "; ".join(complaints) + "): install it with `make install`, "
        "or name the file in RIDGE_LIBRARY"
    )


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    library.ridge_ctx_open.restype = ctypes.c_void_p
    library.ridge_ctx_open.argtypes = []
    library.ridge_ctx_close.restype = None
    library.ridge_ctx_close.argtypes = [ctypes.c_void_p]
    library.ridge_ctx_message.restype = ctypes.c_char_p
    library.ridge_ctx_message.argtypes = [ctypes.c_void_p]
    library.ridge_answer_line.restype = ctypes.c_int
    library.ridge_answer_line.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(_Answer),
    ]
    return library


_loaded: Optional[ctypes.CDLL] = None


def _library() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def ask(words: Sequence[str]) -> Reply:
    """The reply to the words behind ``ridge``; the interpreter's lock is not held meanwhile."""
    library = _library()
    context = library.ridge_ctx_open()
    if not context:
        raise MemoryError("no memory for a request")
    try:
        array = (ctypes.c_char_p * len(words))(*(os.fsencode(word) for word in words))
        answer = _Answer()
        status = library.ridge_answer_line(context, len(words), array, ctypes.byref(answer))
        if status != 0:
            raise MemoryError(library.ridge_ctx_message(context).decode("utf-8", "replace"))
        return Reply(answer.code, answer.out.text(), answer.err.text())
    finally:
        library.ridge_ctx_close(context)


def version() -> str:
    """Of the library."""
    return ask(["--version"]).out.split()[-1]
