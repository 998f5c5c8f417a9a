"""What the verbs answer, by type. Members not named here are there as well: see ``--json``."""

from __future__ import annotations

from typing import Dict, List, Optional

from ._answer import Answer, Record


class Chip(Record):
    """A chip of the catalogue."""

    name: str
    peak_flops_per_s: Dict[str, float]
    ridge_flops_per_byte: Dict[str, float]
    hbm_bytes: float
    hbm_bytes_per_s: float
    usd_per_hour: Optional[float]


class Chips(Answer):
    """Chips side by side."""

    _kinds = {"chips": Chip}
    chips: List[Chip]


class Parameters(Record):
    """Parameters by part."""

    total: int
    active: int
    embedding: int
    unembedding: int
    attention: int
    mlp: int
    router: int
    experts: int
    norm: int


class Model(Answer):
    """A model's arithmetic."""

    _kinds = {"parameters": Parameters}
    name: str
    layers: int
    parameters: Parameters
    weight_bytes: float
    kv_bytes_per_token: float


class Roofline(Answer):
    """An operation on a chip."""

    flops: float
    bytes: float
    intensity_flops_per_byte: float
    ridge_flops_per_byte: float
    time_s: float
    bound_time_s: float
    bound_by: str


class Collective(Answer):
    """A collective on a slice."""

    kind: str
    bytes: float
    ranks: int
    algorithm: str
    time_s: float
    bound_time_s: float


class Strategy(Record):
    """One right way to compute a sharded einsum."""

    time_s: float
    exposed_s: float
    bytes_per_chip: float


class Sharding(Answer):
    """Strategies, the quickest first."""

    _kinds = {"strategies": Strategy}
    strategies: List[Strategy]


class Layout(Record):
    """A training layout, priced."""

    mesh: Record
    placement: str
    zero_stage: int
    microbatch_seqs: int
    remat: str
    precision: str
    step_time_s: float
    bound_step_time_s: float
    mfu: float
    hfu: float
    tokens_per_s_per_chip: float
    tflops_per_chip: float
    peak_memory_bytes: float
    memory: Dict[str, float]
    breakdown: Dict[str, float]
    bottleneck: str


class Training(Answer):
    """Training layouts, the best first; none where nothing fits."""

    _kinds = {"layouts": Layout}
    layouts: List[Layout]

    @property
    def best(self) -> Optional[Layout]:
        """The first layout, or None."""
        layouts = self.layouts if "layouts" in self else []
        return layouts[0] if layouts else None


class Deployment(Record):
    """A serving layout, priced."""

    mesh: Record
    mode: str
    ttft_s: float
    tpot_s: float
    tokens_per_s_per_chip: float
    requests_per_s: float
    usd_per_million_tokens: Optional[float]
    memory: Dict[str, float]
    breakdown: Dict[str, float]
    bottleneck: str


class Serving(Answer):
    """Serving layouts, the best first; none where nothing fits or keeps the goal."""

    _kinds = {"layouts": Deployment}
    layouts: List[Deployment]

    @property
    def best(self) -> Optional[Deployment]:
        """The first layout, or None."""
        layouts = self.layouts if "layouts" in self else []
        return layouts[0] if layouts else None


class Simulation(Answer):
    """A plan played out."""


class Profile(Answer):
    """Where a measured run's time goes."""


class Module(Answer):
    """An HLO or StableHLO module."""

    flops: float
    bytes: float
    time_s: float
    peak_memory_bytes: float


class Derivation(Answer):
    """How a number comes about."""

    title: str
    derivation: List[Record]


class Validation(Answer):
    """Predicted against measured."""


class Sizing(Answer):
    """Parameters and tokens for a budget."""


class Launch(Answer):
    """A plan as a launch configuration."""
