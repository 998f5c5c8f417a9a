"""What the verbs answer, by type. Members not named here are there as well: see ``--json``."""

from __future__ import annotations

from typing import Dict, Optional

from ._answer import Answer, Planned, Record, Rows


class Chip(Record):
    """A chip of the catalogue."""

    _shown = ("name", "hbm_bytes", "hbm_bytes_per_s", "power_watts", "usd_per_hour")

    name: str
    peak_flops_per_s: Dict[str, float]
    ridge_flops_per_byte: Dict[str, float]
    hbm_bytes: float
    hbm_bytes_per_s: float
    usd_per_hour: Optional[float]


class Chips(Answer):
    """Chips side by side."""

    _kinds = {"chips": Chip}
    chips: Rows[Chip]


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
    strategies: Rows[Strategy]


class Layout(Record):
    """A training layout, priced."""

    _shown = ("mesh", "step_time_s", "bound_step_time_s", "mfu", "tokens_per_s_per_chip",
              "peak_memory_bytes", "zero_stage", "microbatch_seqs", "remat", "bottleneck")

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


class Training(Planned):
    """Training layouts, the best first; none where nothing fits."""

    _kinds = {"layouts": Layout}
    layouts: Rows[Layout]

    @property
    def best(self) -> Optional[Layout]:
        """The first layout, or None."""
        layouts = self.layouts if "layouts" in self else []
        return layouts[0] if layouts else None


class Deployment(Record):
    """A serving layout, priced."""

    _shown = ("mode", "mesh", "batch", "ttft_s", "tpot_s", "tokens_per_s_per_chip",
              "requests_per_s", "usd_per_million_tokens", "bottleneck")

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


class Serving(Planned):
    """Serving layouts, the best first; none where nothing fits or keeps the goal."""

    _kinds = {"layouts": Deployment}
    layouts: Rows[Deployment]

    @property
    def best(self) -> Optional[Deployment]:
        """The first layout, or None."""
        layouts = self.layouts if "layouts" in self else []
        return layouts[0] if layouts else None


class Spread(Record):
    """A time of many requests."""

    mean: float
    p50: float
    p90: float
    p99: float


class Simulation(Answer):
    """A plan played out: of training its `step`, `steps` and `trouble`, of serving latencies."""

    _kinds = {"ttft_s": Spread, "tpot_s": Spread, "itl_s": Spread, "e2e_s": Spread}
    kind: str
    model: str
    slice: str
    step: Record
    steps: Record
    trouble: Record
    requests: int
    completed: int
    ttft_s: Spread
    tpot_s: Spread
    e2e_s: Spread
    goodput_requests_per_s: float
    output_tokens_per_s: float
    kv: Record


class Operation(Record):
    """An operation of a run or of a module."""

    name: str
    time_s: float


class Profile(Answer):
    """Where a measured run's time goes."""

    _kinds = {"ops": Operation}
    format: str
    step_time_s: float
    breakdown: Dict[str, float]
    devices: Rows[Record]
    steps: Rows[Record]
    ops: Rows[Operation]
    collectives: Rows[Record]
    advice: Rows[Record]


class Module(Answer):
    """An HLO or StableHLO module; times where it was said where it runs."""

    _kinds = {"ops": Operation}
    module: str
    flops: float
    bytes: float
    time_s: Optional[float]
    bound_time_s: Optional[float]
    bound_by: Optional[str]
    peak_memory_bytes: float
    ops: Rows[Operation]
    collectives: Rows[Record]
    advice: Rows[Record]


class Step(Record):
    """A line of a derivation: name = formula = values = result."""

    depth: int
    name: str
    formula: str
    result: str

    @property
    def values(self) -> str:  # type: ignore[override]
        """The formula with numbers in it."""
        return self["values"]


class Derivation(Answer):
    """How a number comes about."""

    _kinds = {"derivation": Step}
    title: str
    derivation: Rows[Step]


class Validation(Answer):
    """Predicted against measured."""

    rows: int
    predicted: int
    median_abs_rel_error: Optional[float]
    p90_abs_rel_error: Optional[float]
    bias: Optional[float]
    skipped: Rows[Record]


class Sizing(Answer):
    """Parameters and tokens for a budget."""

    law: Record
    best: Record
    laws: Rows[Record]


class Launch(Answer):
    """A plan as a launch configuration."""

    launcher: str
    text: str
    notes: Rows[str]
