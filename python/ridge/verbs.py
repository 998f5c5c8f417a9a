"""The verbs as functions. Made from the program's own table by tools/python_verbs.py.

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

__all__ = ["chips", "model", "roofline", "collective", "shard", "size", "train", "serve", "explain", "simulate", "validate", "export", "profile", "hlo"]


def chips(
    *chip_or_slice_or_file: Value,
    kernel: Value = None,
    write_system: Value = None,
) -> results.Chips:
    """What hardware is known: peaks, ridge points, network, price.

    Without a name: every chip in a row. With one: its peaks by format, memory,
    network and ridge points, prices, and where each number comes from. With
    several: the same side by side. A slice (v5p:16x20x28, h100:64x8) is told with
    all its chips together: hosts, peaks, memory, network and its switches, price.

    Peaks are dense. A ridge point is the FLOPs per byte above which the chip,
    not the memory or the network, is the limit.

    With --kernel: how many blocks and warps of a kernel are resident on an SM or
    CU, and what binds (exit code 1: not one block fits).

    A topology FILE (the output of nvidia-smi topo -m, rocm-smi --showtopo or
    ibnetdiscover; XML of NCCL, RCCL or lstopo; a cluster model of topograph; a
    network of ASTRA-sim; messages that Mooncake measured) is told as it was
    understood: links, NICs, switches, the system that they make, and where each
    number of it comes from. What the file leaves open is that of NAME, a chip or
    a system: h100@topo.txt, dgx-h100@ibnet.out, h100@topo.txt@ibnet.out. Every
    --on takes the same, with a shape: --on h100@topo.txt:4x8.

    :param kernel: blocks and warps of a GPU kernel that a core holds:
        threads=256,registers=64,shared=48KiB
    :param write_system: keep the system of a topology file, for --on FILE

    >>> import ridge
    >>> ridge.chips("h100", "v5p").verb
    'chips'

    On the command line: ``ridge chips h100 v5p``
    """
    held: Any = None
    words: List[str] = ["chips"]
    words += [word(item) for item in chip_or_slice_or_file]
    words += option_words({
        "kernel": kernel,
        "write_system": write_system,
    })
    return answer(results.Chips, words, held)


def model(
    model: Model = None,
    *,
    seq: Value = None,
    program: bool = False,
    phase: Value = None,
    batch: Value = None,
    context: Value = None,
    checkpoint: Value = None,
    tokens: Value = None,
    chip_hours: Value = None,
    on: Value = None,
    routed: Value = None,
    experts: Value = None,
    ep: Value = None,
    capacity: Value = None,
) -> results.Model:
    """Parameters, FLOPs, KV cache and memory of a model.

    MODEL is a name of the catalogue, a config.json of Hugging Face or its folder,
    a .gguf of llama.cpp (its header is read), or a .json in the catalogue's own
    format. Without one: the catalogue.

    FLOPs of a token are given under every convention by name, because published
    MFU figures differ in what they count. Weight files beside a config.json, and
    the tensors of a .gguf, are compared with what the config predicts.

    --tokens, --chip-hours and --on CHIP of a run that is over give its MFU:
      ridge model deepseek-v3 --tokens 14.8T --chip-hours 2.664M --on h800

    --routed TOKENS deals tokens to the experts of a mixture at random: rows of the
    fullest expert and rank, ranks that a token reaches, what a capacity drops:
      ridge model deepseek-v3 --routed 4096 --ep 64 --capacity 1.25

    --program prints the operations of a phase over tensors with named dims, the
    notation that `ridge shard --program` reads.

    :param seq: tokens of a sequence (4096, or the model's context if shorter)
    :param program: print the program that a phase lowers to
    :param phase: of the program: train (default), prefill or decode
    :param batch: sequences of the program (1)
    :param context: tokens in the cache of a decode program (--seq)
    :param checkpoint: weight index or safetensors file to compare with
    :param tokens: of a run that is over: its MFU is told
    :param chip_hours: that the run took
    :param on: that it ran on
    :param routed: dealt to the experts of a mixture by chance: the fullest, what goes where
    :param experts: of the tokens' choice, without a MODEL or instead of its own
    :param ep: that hold the experts (1)
    :param capacity: factor: an expert takes C times the mean, what is dropped

    >>> import ridge
    >>> ridge.model("llama-3-70b").verb
    'model'

    On the command line: ``ridge model llama-3-70b``
    """
    held: Any = None
    words: List[str] = ["model"]
    if model is not None:
        text, held = model_word(model)
        words.append(text)
    words += option_words({
        "seq": seq,
        "program": program,
        "phase": phase,
        "batch": batch,
        "context": context,
        "checkpoint": checkpoint,
        "tokens": tokens,
        "chip_hours": chip_hours,
        "on": on,
        "routed": routed,
        "experts": experts,
        "ep": ep,
        "capacity": capacity,
    })
    return answer(results.Model, words, held)


def roofline(
    op: Value,
    *,
    on: Value = None,
    dims: Value = None,
    dtype: Value = None,
    weights: Value = None,
    activations: Value = None,
    output: Value = None,
    compute: Value = None,
    memory: Value = None,
    sweep: Value = None,
    **knobs: Value,
) -> results.Roofline:
    """An operation's time, what bounds it, critical sizes; a chart.

    OP is a matmul MxKxN, an einsum such as btd,df->btf with a size for each dim,
    attention:prefill (t=) or attention:decode (s=) with b sequences, n heads,
    k KV heads and h head dim, or add:N, elementwise:N, dot:N on vectors; or work
    of any shape, flops:1e12 with bytes=2e9 where they are known, or bytes:1GiB.

    The bound is the largest of FLOPs / peak, vector FLOPs / vector peak and
    bytes / bandwidth. The expected time adds the launch and takes achievable
    rates and the shape: padding to tiles or to the systolic array, and waves.

    The critical size is the number of rows (tokens) from which the operation is
    compute bound.

    :param on: chip or slice: h100, v5e:4x4; one chip of it runs the operation
    :param dims: sizes of an einsum or of attention: b=4,t=4096
    :param dtype: format of everything (bf16; add: fp32)
    :param weights: format of the second operand, or of the KV cache
    :param activations: format of the first operand and of the output
    :param output: format of the output
    :param compute: format of the arithmetic
    :param memory: where operands stream from: hbm, fast (VMEM), pcie (the host)
    :param sweep: a dim over a range: m=1..8192, m=1..4096*4, m=128..4096+128

    >>> import ridge
    >>> ridge.roofline("8192x8192x28672", on="h100", sweep="m=1..8192").verb
    'roofline'

    On the command line: ``ridge roofline 8192x8192x28672 --on h100 --sweep m=1..8192``
    """
    held: Any = None
    words: List[str] = ["roofline"]
    words.append(word(op))
    words += knob_words(knobs)
    words += option_words({
        "on": on,
        "dims": dims,
        "dtype": dtype,
        "weights": weights,
        "activations": activations,
        "output": output,
        "compute": compute,
        "memory": memory,
        "sweep": sweep,
    })
    return answer(results.Roofline, words, held)


def collective(
    kind: Value,
    size: Value,
    *,
    on: Value = None,
    over: Value = None,
    from_: Value = None,
    to: Value = None,
    dtype: Value = None,
    sweep: Value = None,
) -> results.Collective:
    """The time of a collective, by algorithm.

    KIND is all-gather (ag), reduce-scatter (rs), all-reduce (ar), all-to-all
    (a2a), broadcast or send-recv. SIZE is the global array of one group: what an
    all-gather leaves on each chip, what a reduce-scatter or all-reduce starts
    from, all bytes that an all-to-all moves between the group's chips, one
    message of a broadcast or a send-recv.

    Every chip of the slice takes part in a group of its own. The bound is the
    busiest link at its nominal rate, or the hops. The expected time adds what
    links achieve at this size, latencies and the software's start.

    :param on: where: v5p:8x16x16, h100:16x8 (nodes x chips), 2*v5p:4x4x4
    :param over: network axes: x,y or nvlink, a part: x=4; all of them (default)
    :param from_: send-recv of one message on a torus: from this chip, 0,0
    :param to: to that one: 3,3
    :param dtype: format whose FLOPs are set against the network (bf16)
    :param sweep: sizes too: 1KiB..4GiB (powers of two), 1MB..1GB*10

    >>> import ridge
    >>> ridge.collective("all-gather", "1GiB", on="v5p:8x16x16", over="x").verb
    'collective'

    On the command line: ``ridge collective all-gather 1GiB --on v5p:8x16x16 --over x``
    """
    held: Any = None
    words: List[str] = ["collective"]
    words.append(word(kind))
    words.append(word(size))
    words += option_words({
        "on": on,
        "over": over,
        "from": from_,
        "to": to,
        "dtype": dtype,
        "sweep": sweep,
    })
    return answer(results.Collective, words, held)


def shard(
    expr: Value = None,
    *,
    mesh: Mesh = None,
    dims: Value = None,
    program: Value = None,
    lay: Value = None,
    auto: bool = False,
    on: Value = None,
    place: Value = None,
    overlap: bool = False,
    all: bool = False,
    run: bool = False,
    strategy: Value = None,
    engine: Value = None,
    threads: Value = None,
    timeout: Value = None,
    values: Value = None,
    seed: Value = None,
    dtype: Value = None,
    activations: Value = None,
    weights: Value = None,
    output: Value = None,
    compute: Value = None,
) -> results.Sharding:
    """Which collectives a sharded einsum needs, every strategy priced.

    EXPR is A[I@x,J] * B[J,K@y] -> C[I@x,K@y]: up to four operands, behind @ the mesh
    axes that cut a dim, outermost first (I@xy for axes of one letter, I@(tp,dp) or
    I@tp+dp for any), and {U@z} for partial sums over z. The book's I_X, I_XY and
    {U_X} are taken too. Without -> the output has the dims of exactly one operand.

    A strategy is a sequence of gathers, slices and moves of operands before the
    product and of reductions, gathers and moves after it that ends as wanted. All
    are listed that do nothing needless.

    A dim that does not divide is padded; what that costs is told.

    With --run, each rank (a thread, or a process under mpirun; as many as the mesh
    has) holds its parts of the operands, takes the steps, multiplies, and the result
    is compared with the unsharded product in double precision; the times are those
    of this machine. With --overlap, gathers, scatters and sums beside the product
    run once more in chunks around the ring. Exit code 1: the numbers are wrong. The
    example with --run takes about a second.

    With --program, the tensors that --lay names lie as it says, weights and inputs
    by name or by role (weight[D@fsdp]); the rest follows, and collectives are put
    in. With --auto, the shardings of all intermediates are those for which
    operations and network take the least, one after the other: exact, for small
    programs of einsums, attention, norms and elementwise operations.

    :param mesh: mesh axes and their sizes: x=4,y=2
    :param dims: sizes of the dims: I=1024,J=4096
    :param program: shard a program, as ridge model --program writes it
    :param lay: how its weights and inputs lie: 'x[B@dp,D] w[D,F@tp]'
    :param auto: search the shardings of all intermediates of the program
    :param on: price on a slice of as many chips; without it, bytes alone
    :param place: mesh axes on network axes, innermost first: x=ici-x,y=ici-y
    :param overlap: hide what can be hidden: collective matmul, prefetch
    :param all: show every strategy; with --run, run every one
    :param run: run it on ranks, and compare with the unsharded product
    :param strategy: run the N-th strategy of the list (1)
    :param engine: threads (default), mpi (default under mpirun), cuda
    :param threads: that compute for each rank (processors / ranks)
    :param timeout: seconds that a rank waits for another (60)
    :param values: whole numbers, which leave no error (default), or real ones
    :param seed: of the numbers (1)
    :param dtype: format of everything (bf16; with --run fp32)
    :param activations: format of the first operand and of the output
    :param weights: format of the other operands
    :param output: format of the output
    :param compute: format of the arithmetic

    >>> import ridge
    >>> ridge.shard("A[I@x,J] * B[J,K@y] -> C[I@x,K]", mesh="x=4,y=2", dims="I=512,J=1024,K=2048", on="v5p:4x2x1").verb
    'shard'

    On the command line: ``ridge shard 'A[I@x,J] * B[J,K@y] -> C[I@x,K]' --mesh x=4,y=2 --dims I=512,J=1024,K=2048 --on v5p:4x2x1``
    """
    held: Any = None
    words: List[str] = ["shard"]
    if expr is not None:
        words.append(word(expr))
    words += option_words({
        "mesh": mesh,
        "dims": dims,
        "program": program,
        "lay": lay,
        "auto": auto,
        "on": on,
        "place": place,
        "overlap": overlap,
        "all": all,
        "run": run,
        "strategy": strategy,
        "engine": engine,
        "threads": threads,
        "timeout": timeout,
        "values": values,
        "seed": seed,
        "dtype": dtype,
        "activations": activations,
        "weights": weights,
        "output": output,
        "compute": compute,
    })
    return answer(results.Sharding, words, held)


def size(
    *,
    flops: Value = None,
    days: Value = None,
    usd: Value = None,
    chip_hours: Value = None,
    params: Value = None,
    tokens: Value = None,
    loss: Value = None,
    on: Value = None,
    mfu: Value = None,
    batch: Value = None,
    seq: Value = None,
    tokens_per_param: Value = None,
    served: Value = None,
    law: Value = None,
    price: Value = None,
    site: Value = None,
    mtbf: Value = None,
    failures: Value = None,
    checkpoint: Value = None,
    storage: Value = None,
    restart: Value = None,
    spares: Value = None,
    repair: Value = None,
    watts: Value = None,
    pue: Value = None,
    kwh_price: Value = None,
) -> results.Sizing:
    """The size of a model and its tokens for a budget.

    One option tells what is given; the scaling law answers with parameters, tokens
    and loss. Dollars, chip-hours and days buy FLOPs on a slice, at the MFU and
    goodput of the nearest dense model of the catalogue in its best layout, or at
    --mfu. The table of other tokens a parameter shows what training longer than
    the best costs in loss; --served finds the size that costs least when a
    lifetime of inference counts too.

    :param flops: of training: 1e24
    :param days: on the slice of --on
    :param usd: dollars on the slice of --on: 2M
    :param chip_hours: on the slice of --on: 1M
    :param params: parameters; the tokens are asked, or with --tokens the loss: 70B
    :param tokens: tokens; the parameters are asked: 1.4T
    :param loss: a loss to reach, in nats a token: 2.0
    :param on: chips that train it, for time and money: h100:64x8
    :param mfu: of the peak, without failures: 0.4 (that of the planner)
    :param batch: of a step, for the planner's MFU (4M)
    :param seq: tokens of a sequence, for the planner's MFU (4096)
    :param tokens_per_param: train longer or shorter than the law's best: 100
    :param served: of a lifetime of inference, to be counted too: 10T
    :param law: besiroglu-2024 (default), hoffmann-2022-1, -2, -3, or a .json file
    :param price: dollars a chip-hour, or a listed price: 2.5, aws, spot, google:us-
        east5:reserved-1y
    :param site: where it runs: PUE, storage, restart times of data/sites (reference)
    :param mtbf: between failures: 2.8h of the job, node:4000h, chip:5y
    :param failures: a record of data/failures (that of the chip), or none
    :param checkpoint: sync (default) or async, with an own interval: 30m, async:10m
    :param storage: a second, of all nodes together: 2TB (the site's)
    :param restart: from a failure until the job loads its checkpoint: 10m (the site's)
    :param spares: nodes kept idle for those that fail, paid like the others (0)
    :param repair: until a failed node is back; work waits when spares run out
    :param watts: a chip draws, host and network among it (the data's)
    :param pue: energy at the meter over that of the machines (the site's)
    :param kwh_price: dollars a kilowatt-hour, for the cost of the energy

    >>> import ridge
    >>> ridge.size(days=30, on="h100:64x8").verb
    'size'

    On the command line: ``ridge size --days 30 --on h100:64x8``
    """
    held: Any = None
    words: List[str] = ["size"]
    words += option_words({
        "flops": flops,
        "days": days,
        "usd": usd,
        "chip_hours": chip_hours,
        "params": params,
        "tokens": tokens,
        "loss": loss,
        "on": on,
        "mfu": mfu,
        "batch": batch,
        "seq": seq,
        "tokens_per_param": tokens_per_param,
        "served": served,
        "law": law,
        "price": price,
        "site": site,
        "mtbf": mtbf,
        "failures": failures,
        "checkpoint": checkpoint,
        "storage": storage,
        "restart": restart,
        "spares": spares,
        "repair": repair,
        "watts": watts,
        "pue": pue,
        "kwh_price": kwh_price,
    })
    return answer(results.Sizing, words, held)


def train(
    model: Model = None,
    *,
    on: Value = None,
    from_: Value = None,
    batch: Value = None,
    seq: Value = None,
    tokens: Value = None,
    precision: Value = None,
    stack: Value = None,
    convention: Value = None,
    documents: Value = None,
    imbalance: Value = None,
    headroom: Value = None,
    top: Value = None,
    front: bool = False,
    reasons: bool = False,
    rooflines: bool = False,
    mfu: Value = None,
    to: Value = None,
    what_if: Value = None,
    plan: Value = None,
    timeline: Value = None,
    operations: Value = None,
    sweep: Value = None,
    svg: Value = None,
    for_: Value = None,
    deadline: Value = None,
    chips_most: Value = None,
    against: Value = None,
    slack: Value = None,
    price: Value = None,
    site: Value = None,
    mtbf: Value = None,
    failures: Value = None,
    checkpoint: Value = None,
    storage: Value = None,
    restart: Value = None,
    spares: Value = None,
    repair: Value = None,
    watts: Value = None,
    pue: Value = None,
    kwh_price: Value = None,
    **knobs: Value,
) -> results.Training:
    """The best training layouts: time, MFU, memory, days, dollars.

    MODEL is a name of the catalogue, a Hugging Face config.json, or its folder.

    The search covers every factorisation of the chips over dp, fsdp, tp, cp, pp
    (and of the experts over ep), ZeRO stages 0 to 3, microbatch sizes, pipelines
    (1f1b, interleaved; stages with fewer layers at the ends), remat policies on
    all or some layers, and the ways to lay the mesh on the network; memory is
    checked on every stage. A knob fixes one choice:
      dp= fsdp= tp= cp= pp= ep=    degrees
      zero=0..3  sp=0|1  cp_exchange=ring|gather|all-to-all
      ep_dispatch=copies|once|once-fp8  how tokens reach their experts
      microbatch=  vpp=
      schedule=gpipe|1f1b|interleaved|zb-h1|zb-h2|zb-v|dualpipe|any
      first_layers=  last_layers=  layers of those stages; 0: none
      mtp=  multi-token prediction layers that are trained, beside the head
      remat=none|elementwise|selective|matmuls|ffn|full  remat_layers=  of a stage
      remat=up+act  operations by what they make in ridge model --program;
      remat=operations  the search chooses them, the cheapest first
      offload=none|optimizer+activations+weights|any  to the host
      precision=  optimizer=adamw|adamw-bf16|adamw-8bit|adafactor|muon|momentum|sgd|lora
      lora_rank=16  lora_targets=all|attention|mlp|qkv|q+v  adapters of optimizer=lora
      tp_overlap= fsdp_overlap= dp_overlap= pp_overlap= ep_overlap=0|1
      placement=any|0..  mesh axes on the network in every order, or one
    With all of them fixed one layout is priced. any: choices that frameworks do
    not make unasked are searched as well.

    --sweep searches each of several numbers of chips, batches or sequence lengths:
    strong and weak scaling, and where each communication bound sets in.

    --on takes several slices with commas, and chips without a shape (any number
    of them): --on h100,b200,v5p --deadline 30d --tokens 15T is the cheapest
    cluster that finishes in 30 days. The best layout of each slice is found, the
    slices are ranked by --for.

    --against compares models on one slice: work and efficiency of a token, and
    what each has to gain in quality to be worth its time.

    Pools of unlike chips joined by + train in one pipeline (each holds stages, layers
    are dealt out so that none waits longer than it must) or hold whole replicas
    each, with shares of the batch; both are searched.

    With --tokens the whole run is summed up: goodput under failures, days,
    dollars, energy, each with where it comes from.

    Exit code 1: nothing fits; the answer says what is nearest.

    :param on: chips and their shape: v5p:16x20x28, h100:64x8, 2*v5p:16x16x24; pools of unlike
        chips: h100:32x8+a100:64x8
    :param from_: price a launch configuration: Megatron-LM arguments, MaxText yml, torchtitan
        toml
    :param batch: tokens of one optimizer step: 4M, 4Mi (required without --from)
    :param seq: tokens of a sequence (4096)
    :param tokens: tokens of the whole run, for days and dollars: 15T
    :param precision: bf16 (default), bf16-pure, bf16-reduce, fp16, fp8, fp8-current,
        fp8-blocks, fp8-weights, fp8-rows, mxfp8, fp4, tf32, fp32
    :param stack: training software, as in data/stacks: eager, compiled, megatron-core, ...;
        well-tuned: every kernel at its best (default: what the chips usually run)
    :param convention: how MFU counts FLOPs: causal (default), full, 6n, palm, ...
    :param documents: packed into sequences, attention inside of each: 2048, lognormal:2048:150%
    :param imbalance: load of the busiest rank of experts over the mean (1: chance alone)
    :param headroom: of the memory that is to stay free: 10%
    :param top: layouts to show (5)
    :param front: show which layouts trade time for memory
    :param reasons: show what helps most, and the step's sensitivity to every number
    :param rooflines: show the plain rooflines of the best layout, with formulas: work, memory,
        a layer's arithmetic against its network
    :param mfu: of their times at an MFU: 45% (40%)
    :param to: search what it can be told alone, in its own software: megatron, maxtext, ... of
        ridge export
    :param what_if: the answer on other hardware: hbm=2x,nvlink=0.5x,flops=+10%
    :param plan: write the best layout as a plan
    :param timeline: write the step of the best layout as a trace for Perfetto
    :param operations: write one microbatch of it, operation by operation, as a trace (pp=1)
    :param sweep: curves instead: chips=64..16384, batch=1M..16M*4, seq=4096,8192,32768
    :param svg: write the chart of a sweep
    :param for_: compare the slices of --on by cost (default), time, chips, energy or memory
    :param deadline: compare those that finish --tokens in time: 30d
    :param chips_most: of a kind named without a shape (65536)
    :param against: other models, each with its best layout: what a token of theirs costs
    :param slack: of the step that --for memory may lose (5%)
    :param price: dollars a chip-hour, or a listed price: 2.5, aws, spot, google:us-
        east5:reserved-1y
    :param site: where it runs: PUE, storage, restart times of data/sites (reference)
    :param mtbf: between failures: 2.8h of the job, node:4000h, chip:5y
    :param failures: a record of data/failures (that of the chip), or none
    :param checkpoint: sync (default) or async, with an own interval: 30m, async:10m
    :param storage: a second, of all nodes together: 2TB (the site's)
    :param restart: from a failure until the job loads its checkpoint: 10m (the site's)
    :param spares: nodes kept idle for those that fail, paid like the others (0)
    :param repair: until a failed node is back; work waits when spares run out
    :param watts: a chip draws, host and network among it (the data's)
    :param pue: energy at the meter over that of the machines (the site's)
    :param kwh_price: dollars a kilowatt-hour, for the cost of the energy

    >>> import ridge
    >>> ridge.train("llama-3-70b", on="v5p:16x20x28", batch="4M", tokens="15T").verb
    'train'

    On the command line: ``ridge train llama-3-70b --on v5p:16x20x28 --batch 4M --tokens 15T``
    """
    held: Any = None
    words: List[str] = ["train"]
    if model is not None:
        text, held = model_word(model)
        words.append(text)
    words += knob_words(knobs)
    words += option_words({
        "on": on,
        "from": from_,
        "batch": batch,
        "seq": seq,
        "tokens": tokens,
        "precision": precision,
        "stack": stack,
        "convention": convention,
        "documents": documents,
        "imbalance": imbalance,
        "headroom": headroom,
        "top": top,
        "front": front,
        "reasons": reasons,
        "rooflines": rooflines,
        "mfu": mfu,
        "to": to,
        "what_if": what_if,
        "plan": plan,
        "timeline": timeline,
        "operations": operations,
        "sweep": sweep,
        "svg": svg,
        "for": for_,
        "deadline": deadline,
        "chips_most": chips_most,
        "against": against,
        "slack": slack,
        "price": price,
        "site": site,
        "mtbf": mtbf,
        "failures": failures,
        "checkpoint": checkpoint,
        "storage": storage,
        "restart": restart,
        "spares": spares,
        "repair": repair,
        "watts": watts,
        "pue": pue,
        "kwh_price": kwh_price,
    })
    return answer(results.Training, words, held)


def serve(
    model: Model = None,
    *,
    on: Value = None,
    from_: Value = None,
    prompt: Value = None,
    output: Value = None,
    cached: Value = None,
    context: Value = None,
    slo: Value = None,
    for_: Value = None,
    rate: Value = None,
    engine: Value = None,
    skew: Value = None,
    draft: Value = None,
    accept: Value = None,
    speculation: Value = None,
    price: Value = None,
    watts: Value = None,
    pue: Value = None,
    kwh_price: Value = None,
    top: Value = None,
    play: bool = False,
    no_play: bool = False,
    chips_most: Value = None,
    front: bool = False,
    sweep: Value = None,
    sizes: bool = False,
    rooflines: bool = False,
    reasons: bool = False,
    brief: bool = False,
    what_if: Value = None,
    plan: Value = None,
    svg: Value = None,
    **knobs: Value,
) -> results.Serving:
    """The best serving layouts: TTFT, TPOT, throughput, cost per token.

    MODEL is a name of the catalogue, a Hugging Face config.json, or its folder.

    The search covers servers of every size that divides the slice, cut over tp,
    pp, ep and attention_dp, ways to cut the cache, token budgets of an iteration,
    batches, depths of drafts, and pools: servers that prefill and decode, or
    prefill servers that send caches to decode servers, in every ratio. A knob
    fixes one choice:
      tp= pp= ep= attention_dp= servers=    degrees (prefill_tp=, decode_tp=, ...:
          of one pool)
      tp_d=     of tp, ranks that cut D of feed-forwards    placement=0..5  order of axes
      redundant=     copies of hot experts of a layer, placed by load; ep divides
          experts and these
      kv_cut=heads|batch|sequence  gathered=0|1  overlap=0|1  mode=aggregated|disaggregated|any
      batch=    decoding sequences of an attention rank's iteration
      budget=   tokens of an iteration    depth=    of drafts    nodes=   most of a tree
      weights= experts= compute= cache= activations=    formats: bf16, fp8, int8,
          int4, fp4; any (weights, cache): all are searched

    Without --slo and --rate a request begins when another ends. With a percentile
    or a rate requests come at random, and queues count.

    Where goals have a percentile the best few are played request by request, as
    `ridge simulate` does: the largest rate at which that share of the requests
    keeps all goals ranks them.

    --on takes several slices with commas, and chips without a shape (any number of
    them): --on h100,b200,v5e --slo tpot=30ms is the cheapest of all. The best
    deployment of each slice is found, the slices are ranked by --for (cost).

    Exit code 1: no deployment keeps the goals; the answer says which bound forbids
    them.

    :param on: chips and their shape: v5e:4x4, h100:1x8, b200:9x8; several are compared
    :param from_: price what a command of vllm serve, sglang.launch_server, trtllm-serve, text-
        generation-launcher, lmdeploy serve or maxengine_server starts: a script, a pod, yaml,
        or the command itself
    :param prompt: tokens of a prompt (1024)
    :param output: tokens of an answer (256)
    :param cached: tokens of the prompt found in the prefix cache (0)
    :param context: tokens in the cache of every decoding sequence (those of P and G)
    :param slo: ttft=500ms,tpot=30ms,e2e=20s,p99: at most, at a percentile
    :param for_: throughput (default), cost, chips (with --rate), latency, energy
    :param rate: requests a second that the service takes
    :param engine: vllm-v1, sglang, trtllm, jetstream, ... (vllm-tpu on TPUs, else vllm-v1)
    :param skew: exponent of a power law of expert loads (0: equal but for chance)
    :param draft: speculation: mtp, eagle, medusa, ngram, model:NAME
    :param accept: chance that a drafted token is accepted: 0.8, or 0.9,0.8,0.7, or a published
        one
    :param speculation: when drafting pays, over batch and depth: mtp,
        eagle,depth=6,accept=0.8/0.7, medusa,nodes=63, model=NAME, ngram
    :param price: dollars a chip-hour, or a listed price: 2.5, aws, spot
    :param watts: a chip draws, host among it (by its load, where data know it)
    :param pue: energy at the meter over that of the machines (1.56: the mean)
    :param kwh_price: dollars a kilowatt-hour, for the cost of the energy
    :param top: deployments to show (5)
    :param play: play the best few request by request and rank them by it (unasked where goals
        have a percentile)
    :param no_play: rank by the closed form alone
    :param chips_most: of a kind named without a shape (64)
    :param front: show which deployments trade latency for throughput and cost
    :param sweep: the best deployment at other batches or contexts: batch=1..512,
        seq=1024..65536
    :param sizes: show the smallest slice for each format of weights
    :param rooflines: show the plain rooflines of the best deployment, with formulas: a step, a
        prompt, sampling without a cache, where tp stops
    :param reasons: show what helps most, and the sensitivity to every number
    :param brief: the best deployments alone, sooner: no fronts, no plays, not what would help
    :param what_if: the answer on other hardware: hbm=2x,ici=0.5x,flops=+10%
    :param plan: write the best deployment as a plan
    :param svg: write the chart of the sweep, or of the front

    >>> import ridge
    >>> ridge.serve("llama-3-70b", on="v5e:4x4", prompt=8192, output=512).verb
    'serve'

    On the command line: ``ridge serve llama-3-70b --on v5e:4x4 --prompt 8192 --output 512``
    """
    held: Any = None
    words: List[str] = ["serve"]
    if model is not None:
        text, held = model_word(model)
        words.append(text)
    words += knob_words(knobs)
    words += option_words({
        "on": on,
        "from": from_,
        "prompt": prompt,
        "output": output,
        "cached": cached,
        "context": context,
        "slo": slo,
        "for": for_,
        "rate": rate,
        "engine": engine,
        "skew": skew,
        "draft": draft,
        "accept": accept,
        "speculation": speculation,
        "price": price,
        "watts": watts,
        "pue": pue,
        "kwh_price": kwh_price,
        "top": top,
        "play": play,
        "no_play": no_play,
        "chips_most": chips_most,
        "front": front,
        "sweep": sweep,
        "sizes": sizes,
        "rooflines": rooflines,
        "reasons": reasons,
        "brief": brief,
        "what_if": what_if,
        "plan": plan,
        "svg": svg,
    })
    return answer(results.Serving, words, held)


def explain(
    plan_or_model: Model,
    quantity: Value = None,
    *,
    price: Value = None,
    site: Value = None,
    mtbf: Value = None,
    failures: Value = None,
    checkpoint: Value = None,
    storage: Value = None,
    restart: Value = None,
    spares: Value = None,
    repair: Value = None,
    watts: Value = None,
    pue: Value = None,
    kwh_price: Value = None,
    seq: Value = None,
) -> results.Derivation:
    """A number's derivation, formula and values; what limits it; what if.

    PLAN is a file written by `ridge train ... --plan FILE`. QUANTITY is step_time
    (default), bound_step_time, mfu, memory, or a part of the step:
    matmul, attention, vector, recompute, slowdown, host, tp, cp, ep, imbalance, fsdp,
    dp, pp, bubble, optimizer, offload; or of the whole run, by the options below: goodput, days, usd.

    Of a plan of pools of unlike chips: step_time, bound_step_time, mfu, memory or a
    part of the step.

    Of a plan written by `ridge serve`: ttft (default), tpot, e2e, throughput,
    usd, blocks, memory, batch, or a part of an iteration: dense, experts, head,
    prefill_attention, decode_attention, vector, tp, ep, kv, pp, draft, launch,
    host.

    Of a MODEL, a name of the catalogue, a config.json or its folder: parameters
    (default), active, flops, flops_train, conventions, weights, training,
    activations, kv, or a part: attention, mlp, router, experts, embedding,
    unembedding, norm, mtp, vision, flops_attention_projections,
    flops_attention_scores, flops_mlp, flops_router, flops_experts,
    flops_unembedding.

    Each line says what the quantity is made of, with its numbers, down to sourced
    facts of the chip and the network. Below stands by how much the step would
    change if one number were a tenth larger.

    :param price: dollars a chip-hour, or a listed price: 2.5, aws, spot, google:us-
        east5:reserved-1y
    :param site: where it runs: PUE, storage, restart times of data/sites (reference)
    :param mtbf: between failures: 2.8h of the job, node:4000h, chip:5y
    :param failures: a record of data/failures (that of the chip), or none
    :param checkpoint: sync (default) or async, with an own interval: 30m, async:10m
    :param storage: a second, of all nodes together: 2TB (the site's)
    :param restart: from a failure until the job loads its checkpoint: 10m (the site's)
    :param spares: nodes kept idle for those that fail, paid like the others (0)
    :param repair: until a failed node is back; work waits when spares run out
    :param watts: a chip draws, host and network among it (the data's)
    :param pue: energy at the meter over that of the machines (the site's)
    :param kwh_price: dollars a kilowatt-hour, for the cost of the energy
    :param seq: of a model: tokens of a sequence (4096, or its context if shorter)

    >>> import ridge
    >>> ridge.explain("examples/plan.json", "step_time").verb
    'explain'

    On the command line: ``ridge explain examples/plan.json step_time``
    """
    held: Any = None
    words: List[str] = ["explain"]
    text, held = model_word(plan_or_model)
    words.append(text)
    if quantity is not None:
        words.append(word(quantity))
    words += option_words({
        "price": price,
        "site": site,
        "mtbf": mtbf,
        "failures": failures,
        "checkpoint": checkpoint,
        "storage": storage,
        "restart": restart,
        "spares": spares,
        "repair": repair,
        "watts": watts,
        "pue": pue,
        "kwh_price": kwh_price,
        "seq": seq,
    })
    return answer(results.Derivation, words, held)


def simulate(
    plan_or_model: Model,
    *,
    jitter: Value = None,
    stragglers: Value = None,
    steps: Value = None,
    failures: bool = False,
    mtbf: Value = None,
    record: Value = None,
    site: Value = None,
    checkpoint: Value = None,
    storage: Value = None,
    restart: Value = None,
    tokens: Value = None,
    runs: Value = None,
    seed: Value = None,
    timeline: Value = None,
    on: Value = None,
    engine: Value = None,
    requests: Value = None,
    rate: Value = None,
    arrivals: Value = None,
    concurrency: Value = None,
    think: Value = None,
    prompt: Value = None,
    output: Value = None,
    count: Value = None,
    until: Value = None,
    speed: Value = None,
    turns: Value = None,
    prefixes: Value = None,
    urgent: Value = None,
    slo: Value = None,
    find_rate: Value = None,
    queue: Value = None,
    router: Value = None,
    longest: Value = None,
    memory: Value = None,
    outage: Value = None,
    host_cache: Value = None,
    no_prefix_cache: bool = False,
    charts: bool = False,
    svg: Value = None,
    per_request: Value = None,
    stepped: bool = False,
    **knobs: Value,
) -> results.Simulation:
    """A plan played out: training steps and runs, services under requests.

    PLAN is a file written by `ridge train ... --plan FILE` or `ridge serve ...
    --plan FILE`.

    A training step is played pass by pass over the pipeline's schedule, with the
    times of the planner, and held against the step that `ridge train` tells. With --jitter every chip takes more or less time in every
    pass (lognormal, of mean 1), and chips that work in step wait for the slowest;
    the loss is split into what is waited for within a pass, between stages and
    between replicas. With --failures the run goes on for its tokens: checkpoints,
    failures, work that is lost, restarts. --timeline writes stages as processes
    with their passes, bubbles, collectives by network level, gradient reduction
    and optimizer. Of a fleet (`--on A+B`) the step is played: one pipeline over
    its pools, or each pool's replicas, which meet once a step.

    A service is played iteration by iteration under the rules of its engine
    (data/engines): continuous batching, chunked prefill, a paged cache with
    prefixes, preemption or reservation, a router, pools for prompts and for
    decoding. Requests come from a file or are drawn; without either, they are
    those of the plan, of lengths within 10%. Latencies are split into what they
    are made of. A model with --on SLICE and knobs (tp= pp= ep= attention_dp=
    servers= weights= cache= batch= budget= mode=, as of `ridge serve`) is played
    without a plan.

    :param jitter: training: spread of each chip's compute time in each pass: 5%
    :param stragglers: training: N chips that take FACTOR times as long: 4:1.3
    :param steps: training: steps to play with jitter (200)
    :param failures: training: play the whole run, with failures and restarts
    :param mtbf: between failures: 2.8h of the job, node:4000h, chip:5y; of a serving replica:
        30d
    :param record: training: a record of data/failures, not that of the chip
    :param site: training: whose storage and restart times of data/sites (reference)
    :param checkpoint: training: sync (default) or async, with an own interval: 30m, async:10m
    :param storage: training: a second, of all nodes together: 2TB (the site's)
    :param restart: from a failure until the job loads its checkpoint: 10m; until a replica is
        back: 5m
    :param tokens: training: tokens of the whole run (the plan's)
    :param runs: training: runs to play with failures (200)
    :param seed: of all that is drawn; the same seed gives the same result (1)
    :param timeline: write the step, or the service, as a trace for Perfetto
    :param on: serving: chips of a deployment given by knobs: h100:1x8
    :param engine: serving: whose rules hold: vllm-v1, sglang, trtllm, jetstream, vllm-tpu, tgi,
        lmdeploy, static, other
    :param requests: serving: requests of Azure, BurstGPT, vidur, Mooncake, ..., packed or not
    :param rate: serving: requests a second that are drawn, or a file's lengths at it
    :param arrivals: serving: poisson (default), gamma:SHAPE, constant, bursts:ON:OFF, at-once
    :param concurrency: serving: clients that ask again when they are answered
    :param think: serving: from an answer to the next request (0)
    :param prompt: serving: tokens: 1200, uniform:1200:50%, lognormal:1200:80%
    :param output: serving: the same of an answer
    :param count: serving: requests to play (10,000; all of a file)
    :param until: serving: when the last request may arrive
    :param speed: serving: times of a file are divided by it (1)
    :param turns: serving: requests of a session, each with all before it (1)
    :param prefixes: serving: prompts begin with one of N prefixes: 8:2000
    :param urgent: serving: share of requests that --queue priority puts first
    :param slo: serving: ttft=500ms,tpot=30ms,e2e=20s: what goodput counts
    :param find_rate: serving: at the highest rate at which X% of requests keep --slo: 99%
    :param queue: serving: fcfs (default), shortest, priority, decode-first
    :param router: serving: least-loaded (default), round-robin, prefix
    :param longest: serving: tokens of a sequence; longer requests are refused
    :param memory: serving: share of HBM for the engine: gpu_memory_utilization
    :param outage: serving: replica R fails at a time: 0:120s:60s; repeatable
    :param host_cache: serving: a second tier of the prefix cache, of a rank
    :param no_prefix_cache: serving: prompts are not looked for in the cache
    :param charts: serving: latencies and the course over time as charts
    :param svg: serving: write how latencies spread as a chart
    :param per_request: serving: write a line of JSON for each request
    :param stepped: serving: every iteration by itself: as exact, slower

    >>> import ridge
    >>> ridge.simulate("examples/plan.json", jitter="5%").verb
    'simulate'

    On the command line: ``ridge simulate examples/plan.json --jitter 5%``
    """
    held: Any = None
    words: List[str] = ["simulate"]
    text, held = model_word(plan_or_model)
    words.append(text)
    words += knob_words(knobs)
    words += option_words({
        "jitter": jitter,
        "stragglers": stragglers,
        "steps": steps,
        "failures": failures,
        "mtbf": mtbf,
        "record": record,
        "site": site,
        "checkpoint": checkpoint,
        "storage": storage,
        "restart": restart,
        "tokens": tokens,
        "runs": runs,
        "seed": seed,
        "timeline": timeline,
        "on": on,
        "engine": engine,
        "requests": requests,
        "rate": rate,
        "arrivals": arrivals,
        "concurrency": concurrency,
        "think": think,
        "prompt": prompt,
        "output": output,
        "count": count,
        "until": until,
        "speed": speed,
        "turns": turns,
        "prefixes": prefixes,
        "urgent": urgent,
        "slo": slo,
        "find_rate": find_rate,
        "queue": queue,
        "router": router,
        "longest": longest,
        "memory": memory,
        "outage": outage,
        "host_cache": host_cache,
        "no_prefix_cache": no_prefix_cache,
        "charts": charts,
        "svg": svg,
        "per_request": per_request,
        "stepped": stepped,
    })
    return answer(results.Simulation, words, held)


def validate(
    file: Value,
    *,
    rows: bool = False,
) -> results.Validation:
    """The model against measurements: errors by chip, kind and source.

    FILE is told by its first row. Measured training runs are JSON Lines, a run a
    line: id, source {title}, model {name, n_layers, d_model, n_heads, ...},
    hardware {chip, n_chips, chips_per_node, ...}, plan {tp, pp, cp, ep, dp,
    fsdp_or_zero_stage, microbatch_seqs, global_batch_seqs, seq_len, remat,
    precision, documents (tokens of each), tuning (LoRA: adapters), ...},
    measured {step_time_s or tokens_per_s_per_chip,
    peak_memory_bytes}; null where the source is silent. What a row does not state
    is left to the search, said so with --rows, and such rows are counted apart.

    Measured operations and collectives are CSV below a header with op, hardware,
    latency_us and the dims of the kind: gemm (dtype, m, n, k), attention_decode,
    attention_prefill, mla_decode, mla_prefill (batch, q_len, kv_len, q_heads,
    kv_heads, head_dim, sliding_window, causal, compute_dtype, kv_dtype), moe_ffn
    (num_tokens, hidden, expert_inner, topk, num_experts, moe_tp, moe_ep, routing),
    all_reduce, all_gather, reduce_scatter, all_to_all, send_recv (num_gpus,
    num_nodes, message_bytes, library); or JSON Lines of id, source {title},
    hardware {chip}, config {op, ...}, measured {latency_us or a rate}. Errors are
    given by duration, kind, chip and source; rows measured faster than physics
    allows are refused and counted.

    Measured serving is CSV below a header with model_path, system, backend,
    backend_version, isl, osl, concurrency, tp_size, pp_size, attention_dp_size,
    moe_tp_size, moe_ep_size (or the same of prefill_ and decode_ workers),
    silicon_ttft_ms, silicon_tpot_ms; or JSON Lines of id, source {title}, model
    {name}, hardware {chip, n_chips}, config {framework, mode, tp, ..., dtype,
    input_len, output_len, concurrency}, measured {ttft_ms, tpot_ms,
    output_tokens_per_s, ...}. Each row is played on the engine it names; errors
    of TTFT, TPOT, tokens/s and latency are given by chip, engine, model and source.
    Rows whose model could have drafted tokens without saying so are counted apart.

    :param rows: list every row with its prediction, and why others have none

    >>> import ridge
    >>> ridge.validate("examples/measured.jsonl", rows=True).verb
    'validate'

    On the command line: ``ridge validate examples/measured.jsonl --rows``
    """
    held: Any = None
    words: List[str] = ["validate"]
    words.append(word(file))
    words += option_words({
        "rows": rows,
    })
    return answer(results.Validation, words, held)


def export(
    plan: Value,
    *,
    to: Value = None,
) -> results.Launch:
    """A plan as the launch configuration of a framework or an engine.

    PLAN is a file written by `ridge train ... --plan FILE` or `ridge serve ... --plan FILE`.
    LAUNCHER of a training plan is one of
      megatron         arguments of Megatron-LM, one a line: $(cat FILE)
      megatron-bridge  overrides of a Megatron-Bridge recipe, Python
      maxtext          a MaxText configuration, yml
      torchtitan       a torchtitan job configuration, toml
      deepspeed        a DeepSpeed configuration, json
      jax              a mesh and the partition specs of all arrays, Python
    and of a serving plan, aggregated or disaggregated,
      vllm             vllm serve commands
      vllm-yaml        a file of vllm serve --config
      vllm-tpu         vllm serve commands for TPUs
      sglang           sglang.launch_server commands
      trtllm           trtllm-serve commands with their yaml files
      tgi              text-generation-launcher commands
      lmdeploy         lmdeploy serve api_server commands
      jetstream        the command of a JetStream server of MaxText
      maxtext          the same as a MaxText configuration, yml

    What the framework cannot express is refused, with what to plan instead. What
    it does otherwise in detail, and what a plan leaves open (data, tokenizer,
    learning rate), is said on stderr and in comments where the format has them.
    `ridge train --from FILE` and `ridge serve --from FILE` go the other way.

    :param to: megatron, megatron-bridge, maxtext, torchtitan, deepspeed or jax; of a serving
        plan vllm, vllm-yaml, vllm-tpu, sglang, trtllm, tgi, lmdeploy, jetstream or maxtext
        (required)

    >>> import ridge
    >>> ridge.export("examples/plan.json", to="maxtext").verb
    'export'

    On the command line: ``ridge export examples/plan.json --to maxtext``
    """
    held: Any = None
    words: List[str] = ["export"]
    words.append(word(plan))
    words += option_words({
        "to": to,
    })
    return answer(results.Launch, words, held)


def profile(
    file_or_folder: Value,
    *,
    on: Value = None,
    by: Value = None,
    rows: Value = None,
    diff: Value = None,
    plan: Value = None,
    calibrate: Value = None,
) -> results.Profile:
    """Where a measured run's time goes, against what it could be.

    FILE is a trace: PyTorch (Kineto), CUDA or ROCm; JAX / XProf as
    *.trace.json.gz, perfetto_trace.json.gz or *.xplane.pb; an SQLite export of
    Nsight Systems; Ridge's own timelines; or what XProf computed of a profile
    and no more has: hlo_stats, roofline_model or framework_op_stats as JSON.
    FOLDER has one a rank. gzip and zstd are unpacked on the way. A damaged or
    cut off file is read as far as it goes, and what was lost is said.

    Each step of each device is divided: products, attention, other compute,
    each kind of collective that nothing hid, copies, waiting for input or for
    the host, idle. The parts sum to the step. Operations are held against the
    chip's roofline where the trace tells their shapes or FLOPs; collectives
    against the network. What would help most comes with what it is worth.

    Steps are the program's annotations (ProfilerStep, step, train_step), else
    the profiler's track of steps, launches of the longest module, or where
    operations repeat.

      ridge profile traces/ --plan plan.json -o both.json
      ridge profile new.json.gz --diff old.json.gz --by name
      ridge profile trace.json.gz --calibrate here.json

    :param on: where it ran: chip and shape; else recognised from the trace
    :param by: group operations by class (default), name, call, module, category, source, layer
    :param rows: most rows of a table (12)
    :param diff: this trace against an older one
    :param plan: predicted and measured side by side; -o FILE: both as one trace for Perfetto
    :param calibrate: write a system file with what the run reached, for --on

    >>> import ridge
    >>> ridge.profile("examples/trace.json").verb
    'profile'

    On the command line: ``ridge profile examples/trace.json``
    """
    held: Any = None
    words: List[str] = ["profile"]
    words.append(word(file_or_folder))
    words += option_words({
        "on": on,
        "by": by,
        "rows": rows,
        "diff": diff,
        "plan": plan,
        "calibrate": calibrate,
    })
    return answer(results.Profile, words, held)


def hlo(
    file_or_shape: Value,
    *,
    on: Value = None,
    module: Value = None,
    partition: bool = False,
    mesh: Mesh = None,
    write: Value = None,
    rounds: Value = None,
    devices: Value = None,
    diff: Value = None,
    measured: bool = False,
    index: Value = None,
    top: Value = None,
) -> results.Module:
    """An HLO or StableHLO module: FLOPs, bytes, collectives, time per operation.

    FILE is HLO text before or after optimisation, StableHLO text, or a proto
    (HloProto, HloModuleProto, HloSnapshot), plain or packed by gzip or zstd. Text that
    was cut is read as far as it goes, and what is lost is told.

    Counted is one run of the module on one device: loops by their trip counts, of a
    conditional the slowest branch. After optimisation a kernel is a fusion of the
    module; before, fusion is estimated. Without --on there are FLOPs, bytes, groups
    and memory; with it each kernel has an expected time, a bound and what it is
    bound by, and collectives are priced on the chips that their groups name.

    A custom call whose work cannot be told is said to be unknown, and only its bytes
    are counted.

    With --partition a module whose values say how they lie (sdy or mhlo.sharding)
    is cut over its mesh by ridge's own rules: shardings spread through all operations
    and around loops, what each operation needs is brought there by the collectives that
    send least, and the module that one device then runs is studied as any other. What
    had to be gathered for want of a better way is told. --mesh gives axes other sizes.

    FILE may be what XProf's memory viewer computed, as JSON: what lies in a
    device's memory when it is fullest.

    SHAPE is one array as HLO writes it, bf16[8,100]{1,0:T(8,128)(2,1)}: its padded
    dims, bytes and padding, and with --index where an element lies.

    :param on: price it there: a chip, or a slice with at least as many
    :param module: of a file with several modules or functions, the N-th (1)
    :param partition: cut it over its devices as its shardings say
    :param mesh: the same over a mesh of other sizes: x=4,y=2
    :param write: with --partition: write what one device runs, as HLO text
    :param rounds: of loops that do not tell how often they run (1)
    :param devices: that the module is for, if it does not say
    :param diff: compare with another module, B
    :param measured: FILE is a list of modules that were timed: how far off is it
    :param index: of a shape: where that element lies
    :param top: rows of each list (15)

    >>> import ridge
    >>> ridge.hlo("examples/mlp.hlo", on="h100").verb
    'hlo'

    On the command line: ``ridge hlo examples/mlp.hlo --on h100``
    """
    held: Any = None
    words: List[str] = ["hlo"]
    words.append(word(file_or_shape))
    words += option_words({
        "on": on,
        "module": module,
        "partition": partition,
        "mesh": mesh,
        "write": write,
        "rounds": rounds,
        "devices": devices,
        "diff": diff,
        "measured": measured,
        "index": index,
        "top": top,
    })
    return answer(results.Module, words, held)
