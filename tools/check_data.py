#!/usr/bin/env python3
"""The facts of data/: each has a source and a date, each name and each value makes sense.

Looks at data/chips, data/systems, data/devices, data/stacks, data/prices, data/sites,
data/failures, data/engines, data/acceptance and data/scaling_laws, at the keys of
docs/sources.md and at the schemas of data/schema; file:key for each complaint.
"""
import json
import os
import re
import sys

import tree
from acceptance_data import check_acceptance
from device_data import check_devices
from engine_data import check_engine
from site_data import check_site
from system_data import check_system

DATE = re.compile(r"(19[4-9]\d|20\d\d)(-(0[1-9]|1[0-2]))?")
SOURCE_LINE = re.compile(r"^- \*\*([^*]+)\*\* — ", re.M)
NAME = re.compile(r"[ -~]{1,64}")
NAME_BANNED = set(':*+,/\\"')

CHIP_KINDS = {"gpu", "tpu", "accelerator", "cpu"}
PRICE_KINDS = {"on-demand", "spot", "reserved-1y", "reserved-3y"}
DTYPES = {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp6", "fp4", "int4"}

# least and most that a sane machine has, by the last part of the key
RANGES = {
    "peak": (1e11, 1e17),
    "vector_flops_per_s": (1e11, 1e16),
    "hbm_bytes": (1e9, 1e13),
    "visible_bytes": (1e9, 1e13),
    "hbm_bytes_per_s": (5e10, 1e14),
    "fast_bytes": (1e6, 1e10),
    "fast_bytes_per_s": (1e11, 1e16),
    "l2_bytes": (1e6, 1e10),
    "l2_bytes_per_s": (1e11, 1e15),
    "register_bytes": (1e5, 1e9),
    "cores": (1, 1e4),
    "devices": (1, 64),
    "matmul_units": (1, 1e5),
    "matmul_rows": (8, 4096),
    "matmul_cols": (8, 4096),
    "tile_m": (16, 1024),
    "tile_n": (16, 1024),
    "lane_count": (1, 4096),
    "sublane_count": (1, 256),
    "warp_threads": (16, 128), "core_warps": (8, 256), "core_blocks": (1, 256),
    "core_barriers": (1, 256), "core_shared_bytes": (1e4, 1e6),
    "block_reserved_bytes": (1, 1e5), "shared_granule_bytes": (16, 1e5),
    "thread_registers": (32, 1024), "thread_register_granule": (1, 64),
    "clock_hz": (1e8, 1e10),
    "boost_clock_hz": (1e8, 1e10),
    "power_watts": (10, 1e5),
    "idle_power_share": (0.001, 1),
    "busy_power_share": (0.001, 1),
    "memory_power_share": (0.001, 1),
    "flops_power_share": (0.001, 10),
    "pcie_bytes_per_s": (1e9, 1e12),
    "host_link_bytes_per_s": (1e9, 1e13),
    "share": (0.01, 1.1),
    "launch_s": (0, 1e-3),
    "fp4_sm_bytes_per_s": (1e9, 1e12),
    "usd_per_chip_hour": (0.01, 100),
}
FAILURE_COUNTS = {"interruptions": (1, 1e6), "counted_chips": (1, 1e7), "days": (0.1, 1e4)}
FAILURE_RATES = {"failures_per_node_day": (1e-7, 1), "chips_per_node": (1, 4096)}
WHOLE = {"cores", "devices", "matmul_units", "matmul_rows", "matmul_cols", "tile_m", "tile_n",
         "lane_count", "sublane_count", "warp_threads", "core_warps", "core_blocks", "core_barriers",
         "shared_granule_bytes", "thread_registers", "thread_register_granule"}

CHIP_NUMBERS = [
    "vector_flops_per_s", "hbm_bytes", "visible_bytes", "hbm_bytes_per_s",
    "fast_bytes", "fast_bytes_per_s", "l2_bytes", "l2_bytes_per_s", "register_bytes", "cores",
    "devices", "matmul_units", "matmul_rows", "matmul_cols", "tile_m", "tile_n", "lane_count",
    "sublane_count", "warp_threads", "core_warps", "core_blocks", "core_barriers",
    "core_shared_bytes", "block_reserved_bytes", "shared_granule_bytes", "thread_registers",
    "thread_register_granule", "clock_hz", "boost_clock_hz", "power_watts", "idle_power_share",
    "busy_power_share", "memory_power_share", "flops_power_share", "pcie_bytes_per_s",
    "host_link_bytes_per_s"]
CHIP_WANTED = ["vector_flops_per_s", "hbm_bytes", "hbm_bytes_per_s"]
CHIP_TEXTS = ["name", "full_name", "base", "vendor", "kind", "aliases", "year",
              "default_system"]


class Checker:
    """Complaints by file and key, and the sources that the facts may name."""

    def __init__(self, sources):
        self.sources = sources
        self.complaints = []
        self.facts = 0

    def fail(self, path, key, text):
        self.complaints.append((path, key, text))

    def only(self, path, key, value, known):
        """True for an object; complains of members that are not known."""
        if not isinstance(value, dict):
            self.fail(path, key, "an object is wanted")
            return False
        for member in value:
            if member not in known:
                self.fail(path, f"{key}.{member}".lstrip("."), "unknown key")
        return True

    def number(self, path, key, value, bounds, is_whole=False):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(path, key, "a number is wanted")
        elif not bounds[0] <= value <= bounds[1]:
            self.fail(path, key, f"{value:g} is not within {bounds[0]:g} to {bounds[1]:g}")
        elif is_whole and value != int(value):
            self.fail(path, key, "a whole number is wanted")

    def origin(self, path, key, value):
        source, date = value.get("source"), value.get("date")
        if source not in self.sources:
            self.fail(path, key, f"source {source!r} is not in docs/sources.md")
        if not isinstance(date, str) or not DATE.fullmatch(date):
            self.fail(path, key, f"date {date!r} is not YYYY or YYYY-MM")

    def fact(self, path, key, value, bounds, is_whole=False):
        self.facts += 1
        if not self.only(path, key, value, {"value", "source", "date", "note"}):
            return
        self.number(path, key, value.get("value"), bounds, is_whole)
        self.origin(path, key, value)
        if not isinstance(value.get("note", "-"), str) or value.get("note", "-") == "":
            self.fail(path, key, "an empty note")

    def name(self, path, key, value):
        if not isinstance(value, str) or not NAME.fullmatch(value) or value[0] == " " \
                or NAME_BANNED & set(value):
            self.fail(path, key, f"{value!r} cannot be a name")


def merged(base, over):
    """A variant with its base's members; objects merge, except that a fact is replaced."""
    out = dict(base)
    for key, value in over.items():
        old = out.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and "value" not in value:
            out[key] = merged(old, value)
        elif value is None:
            out.pop(key, None)
        else:
            out[key] = value
    return out


def resolved(check, items, path, seen=()):
    """The whole of a file: its base's members below its own."""
    item = items[path]
    base = item.get("base")
    if base is None:
        return item
    folder = os.path.dirname(path)
    base_path = f"{folder}/{base}.json"
    if base_path not in items or base_path in seen:
        check.fail(path, "base", f"no such base: {base!r}")
        return item
    below = resolved(check, items, base_path, seen + (path,))
    return merged({k: v for k, v in below.items() if k != "aliases"}, item)


def check_by_dtype(check, path, key, value, bounds):
    if check.only(path, key, value, DTYPES):
        for dtype, fact in value.items():
            if fact is not None:
                check.fact(path, f"{key}.{dtype}", fact, bounds)


ACHIEVABLE_SHARES = ("attention", "memory", "decode", "loaded")
ACHIEVABLE_TIMES = ("launch_s", "stream_start_s", "quantise_tensor_s", "quantise_row_s",
                    "quantise_block_s", "prefill_call_s", "prefill_block_s",
                    "decode_call_s", "decode_block_s")


def check_achievable(check, path, value):
    key = "achievable"
    bounds = {"fp4_sm_bytes_per_s": RANGES["fp4_sm_bytes_per_s"]}
    bounds.update((member, RANGES["share"]) for member in ACHIEVABLE_SHARES)
    bounds.update((member, RANGES["launch_s"]) for member in ACHIEVABLE_TIMES)
    if not check.only(path, key, value, {"matmul", *bounds}):
        return
    check_by_dtype(check, path, f"{key}.matmul", value.get("matmul", {}), RANGES["share"])
    for member, bound in bounds.items():
        if member in value:
            check.fact(path, f"{key}.{member}", value[member], bound)


def check_chip(check, path, own, whole):
    known = CHIP_TEXTS + CHIP_NUMBERS + ["peak_flops_per_s", "achievable"]
    check.only(path, "", own, known)
    for key in CHIP_NUMBERS:
        if own.get(key) is not None:
            check.fact(path, key, own[key], RANGES[key], key in WHOLE)
    check_by_dtype(check, path, "peak_flops_per_s", own.get("peak_flops_per_s", {}),
                   RANGES["peak"])
    check_achievable(check, path, own.get("achievable", {}))
    for key in CHIP_WANTED + ["peak_flops_per_s", "full_name", "vendor", "kind", "year",
                              "default_system"]:
        if key not in whole:
            check.fail(path, key, "missing")
    if whole.get("kind") not in CHIP_KINDS:
        check.fail(path, "kind", f"{whole.get('kind')!r} is no kind of chip")
    formats = {k for k, v in whole.get("peak_flops_per_s", {}).items() if v}
    for dtype in whole.get("achievable", {}).get("matmul", {}):
        if dtype not in formats:
            check.fail(path, f"achievable.matmul.{dtype}", "the chip has no such peak")


def check_prices(check, path, item, chips):
    check.only(path, "", item, {"provider", "aliases", "prices"})
    for name in item.get("aliases", []):
        check.name(path, "aliases", name)
    known = {"chip", "region", "kind", "usd_per_chip_hour", "source", "date", "note"}
    for i, row in enumerate(item.get("prices", [])):
        key = f"prices[{i}]"
        if not check.only(path, key, row, known):
            continue
        check.facts += 1
        check.origin(path, key, row)
        check.number(path, f"{key}.usd_per_chip_hour", row.get("usd_per_chip_hour"),
                     RANGES["usd_per_chip_hour"])
        if row.get("chip") not in chips:
            check.fail(path, f"{key}.chip", f"no chip is called {row.get('chip')!r}")
        if row.get("kind") not in PRICE_KINDS:
            check.fail(path, f"{key}.kind", f"{row.get('kind')!r} is no kind of price")


def check_failures(check, path, item, chips):
    check.only(path, "", item, {"name", "full_name", "aliases", "chips", "source", "date",
                                "note", "causes", *FAILURE_COUNTS, *FAILURE_RATES})
    check.origin(path, "source", item)
    wanted = FAILURE_COUNTS if "interruptions" in item else FAILURE_RATES
    for key, bounds in wanted.items():
        if key in item:
            check.fact(path, key, item[key], bounds)
        else:
            check.fail(path, key, "missing")
    for chip in item.get("chips", [None]):
        if chip not in chips:
            check.fail(path, "chips", f"no chip is called {chip!r}")
    counted = sum(cause.get("count", 0) for cause in item.get("causes", []))
    if counted > item.get("interruptions", {}).get("value", counted):
        check.fail(path, "causes", f"{counted} of them are more than all")


def check_law(check, path, item):
    check.only(path, "", item, {"name", "full_name", "aliases", "source", "date", "note",
                                "loss", "optimum"})
    check.origin(path, "source", item)
    check.facts += 1
    if ("loss" in item) == ("optimum" in item):
        check.fail(path, "loss", "either a loss or an optimum is wanted")


STACK_TEXTS = {"name", "full_name", "base", "aliases", "runs", "variant_of", "told_by", "told_on", "vendors",
               "usual_on", "is_usual_sharded",
               "attention", "practice", "has_tp_overlap", "has_send_overlap",
               "has_half_gradients", "has_half_state", "dispatches_once", "broadcasts_updates", "splits_sends",
               "has_two_gradients", "gathers_stage"}
STACK_NUMBERS = {"stream_passes": (0.1, 100), "gated_passes": (0.1, 100),
                 "range_low": (0.01, 100), "range_high": (0.01, 100), "range_rows": (1, 1e6),
                 "kept_passes": (0.1, 100),
                 "logit_bytes": (1, 100), "selective_matmuls": (0, 1),
                 "experts_half_width": (0, 1e6), "experts_host_s": (0, 1), "call_s": (0, 1),
                 "launches_s": (0, 1),
                 "shard_copy_bytes": (0, 100)}
STACK_FACTORS = ("matmul_time", "fp8_time", "fp4_time", "attention_time")


def check_stack(check, path, own, chips, vendors):
    check.only(path, "", own, {*STACK_TEXTS, *STACK_NUMBERS, *STACK_FACTORS})
    families = {chip.split("-")[0] for chip in chips}
    for member, known in (("vendors", vendors), ("usual_on", vendors | families),
                          ("told_on", families)):
        for name in own.get(member, []):
            if name not in known:
                check.fail(path, member, f"no chip is of {name!r}")
    for member, bounds in STACK_NUMBERS.items():
        if member in own:
            check.fact(path, member, own[member], bounds)
    for member in STACK_FACTORS:
        for chip, fact in own.get(member, {}).items():
            check.fact(path, f"{member}.{chip}", fact, (0.1, 100))
            if chip not in chips:
                check.fail(path, f"{member}.{chip}", "no chip is called that")


def check_names(check, items):
    """Names match their files; no name or alias stands for two things."""
    owner = {}
    for path, item in sorted(items.items()):
        stem = os.path.basename(path)[:-len(".json")]
        if item.get("name") != stem:
            check.fail(path, "name", f"{item.get('name')!r} in a file called {stem!r}")
        for name in [item.get("name"), *item.get("aliases", [])]:
            check.name(path, "aliases", name)
            other = owner.setdefault(str(name).lower(), path)
            if other != path:
                check.fail(path, "aliases", f"{name!r} is also in {other}")


def check_defaults(check, chips, systems):
    """Each chip's default system exists and is of that chip; so is each system's chip."""
    chip_names = {item.get("name") for item in chips.values()}
    system_chips = {}
    for path in systems:
        whole = resolved(check, systems, path)
        system_chips[whole.get("name")] = whole.get("chip")
        if whole.get("chip") not in chip_names:
            check.fail(path, "chip", f"no chip is called {whole.get('chip')!r}")
    for path in chips:
        whole = resolved(check, chips, path)
        system = whole.get("default_system")
        if system not in system_chips:
            check.fail(path, "default_system", f"no system is called {system!r}")
        elif system_chips[system] != whole.get("name"):
            check.fail(path, "default_system",
                       f"{system} is of {system_chips[system]}, not of this chip")


def read_folder(check, root, folder):
    """{path: object} of the JSON files of data/<folder>."""
    items = {}
    for path in tree.files(root, (".json",), f"data/{folder}"):
        try:
            value = json.loads(tree.read(root, path))
        except ValueError as error:
            check.fail(path, "", f"not JSON: {error}")
            continue
        if check.only(path, "", value, value):
            items[path] = value
    return items


def main() -> int:
    root = tree.root_argument(__doc__)
    sources_path = os.path.join(root, "docs/sources.md")
    text = tree.read(root, "docs/sources.md") if os.path.exists(sources_path) else ""
    check = Checker(set(SOURCE_LINE.findall(text)))
    chips = read_folder(check, root, "chips")
    systems = read_folder(check, root, "systems")
    devices = read_folder(check, root, "devices")
    prices = read_folder(check, root, "prices")
    sites = read_folder(check, root, "sites")
    failures = read_folder(check, root, "failures")
    laws = read_folder(check, root, "scaling_laws")
    stacks = read_folder(check, root, "stacks")
    engines = read_folder(check, root, "engines")
    acceptance = read_folder(check, root, "acceptance")
    schemas = read_folder(check, root, "schema")
    for path, item in chips.items():
        check_chip(check, path, item, resolved(check, chips, path))
    for path, item in systems.items():
        check_system(check, path, item, resolved(check, systems, path))
    check_names(check, chips)
    check_names(check, systems)
    check_names(check, sites)
    check_names(check, failures)
    check_names(check, laws)
    check_names(check, stacks)
    check_names(check, engines)
    check_names(check, acceptance)
    check_defaults(check, chips, systems)
    names = {item.get("name") for item in chips.values()}
    vendors = {item.get("vendor") for item in chips.values()}
    seen = set()
    for path, item in devices.items():
        check_devices(check, path, item, names, seen)
    for path, item in stacks.items():
        check_stack(check, path, item, names, vendors)
    for path, item in engines.items():
        check_engine(check, path, item, resolved(check, engines, path), names, vendors)
    for path, item in prices.items():
        check_prices(check, path, item, names)
    for path, item in sites.items():
        check_site(check, path, item)
        resolved(check, sites, path)
    for path, item in laws.items():
        check_law(check, path, item)
    for path, item in acceptance.items():
        check_acceptance(check, path, item)
    for path, item in failures.items():
        check_failures(check, path, item, names)
    for path, key, complaint in sorted(set(check.complaints)):
        print(f"{path}:{key}: {complaint}")
    looked_at = sum(map(len, (chips, systems, stacks, engines, prices, sites, failures,
                              laws, acceptance, schemas)))
    print(f"data: {looked_at} files, {check.facts} facts, "
          f"{len(check.complaints)} complaints")
    return 1 if check.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
