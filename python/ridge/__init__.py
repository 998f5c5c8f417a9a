"""Ridge: which layout, how fast, how much memory and money, what is the bottleneck.

Each function asks what the verb of the program of that name asks, through the same library,
and returns an answer whose members are those of ``ridge VERB --json``:

>>> import ridge
>>> model = ridge.model("llama-3-70b")
>>> model.parameters.total
70553706496
>>> best = ridge.train("llama-3-8b", on="h100:2x8", batch="1M", seq=8192, tp=1).layouts[0]
>>> best.mesh.tp
1
>>> 0.3 < best.mfu < 0.7
True
>>> round(sum(best.breakdown.values()) / best.step_time_s, 6)
1.0

An answer prints as the program's text, converts with ``to_dict()``, and shows as a page with
charts in a notebook. Complaints are exceptions with the program's texts:

>>> ridge.model("lama-3-70b")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
ridge.RidgeError: unknown model "lama-3-70b": did you mean llama-3-70b, ...
"""

from ._answer import Answer, Record, RidgeError
from ._library import version
from .verbs import *  # noqa: F403 - the verbs, from the program's own table
from .verbs import __all__ as _verbs

RidgeError.__module__ = __name__
__version__ = version()
__all__ = ["Answer", "Record", "RidgeError", "__version__", *_verbs]
