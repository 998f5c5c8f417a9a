"""The facts of data/systems, for check_data.py: what each file may say, and within which bounds."""
LEVEL_KINDS = {"switch", "mesh", "bus", "fabric"}
WRAP_RULES = {"cubes-of-4", "full-axis", "never"}
POWER = ("node_watts", "training_watts_per_chip", "network_watts_per_chip")
SWITCH_NUMBERS = {"ports": (2, 1024), "port_bytes_per_s": (1e9, 1e12), "count_per_node": (1, 64)}
LINK_WANTED = ["bytes_per_s", "latency_s", "startup_s", "efficiency", "half_rate_bytes"]
LINK_NUMBERS = LINK_WANTED + ["reduce_efficiency", "alltoall_efficiency",
                              "kernel_startup_s"]
# least and most that a sane network has
RANGES = {
    "bytes_per_s": (1e8, 1e13),
    "latency_s": (0, 1e-3),
    "startup_s": (0, 1e-2),
    "kernel_startup_s": (0, 1e-3),
    "efficiency": (0.01, 1.0),
    "reduce_efficiency": (0.01, 1.1),
    "alltoall_efficiency": (0.01, 1.1),
    "half_rate_bytes": (0, 1e9),
    "node_watts": (50, 1e6),
    "training_watts_per_chip": (10, 1e5),
}


def check_link(check, path, key, value, extra=(), is_partial=False):
    if not check.only(path, key, value, LINK_NUMBERS + ["can_reduce", *extra]):
        return
    for member in LINK_NUMBERS:
        if member in value:
            check.fact(path, f"{key}.{member}", value[member], RANGES[member])
        elif member in LINK_WANTED and not is_partial:
            check.fail(path, f"{key}.{member}", "missing")
    if not isinstance(value.get("can_reduce", False), bool):
        check.fail(path, f"{key}.can_reduce", "true or false is wanted")


def check_switches(check, path, key, value):
    if not check.only(path, key, value, ["name", *SWITCH_NUMBERS]):
        return
    if not isinstance(value.get("name"), str):
        check.fail(path, f"{key}.name", "a text is wanted")
    for member, numbers in SWITCH_NUMBERS.items():
        if member in value or member != "count_per_node":
            check.fact(path, f"{key}.{member}", value.get(member), numbers,
                       member != "port_bytes_per_s")


def check_levels(check, path, levels):
    if not isinstance(levels, list) or not 1 <= len(levels) <= 4:
        check.fail(path, "levels", "an array of 1 to 4 levels is wanted")
        return
    for i, level in enumerate(levels):
        key = f"levels[{i}]"
        check_link(check, path, key, level, ("name", "kind", "size", "switches"))
        check.name(path, f"{key}.name", level.get("name"))
        if level.get("kind") not in LEVEL_KINDS:
            check.fail(path, f"{key}.kind", f"{level.get('kind')!r} is no kind of level")
        size = level.get("size")
        if isinstance(size, dict):
            check.fact(path, f"{key}.size", size, (0, 1e6), True)
        else:
            check.number(path, f"{key}.size", size, (0, 1e6), True)
        if "switches" in level:
            check_switches(check, path, f"{key}.switches", level["switches"])


def check_torus(check, path, torus, is_variant):
    known = {"dims", "max_shape", "host_shape", "wrap_rule", "link"}
    if not check.only(path, "torus", torus, known):
        return
    for key in known - set(torus) if not is_variant else ():
        check.fail(path, f"torus.{key}", "missing")
    for key in ("max_shape", "host_shape"):
        shape = torus.get(key, [])
        if len(shape) != torus.get("dims", len(shape)):
            check.fail(path, f"torus.{key}", "not of as many lengths as dims")
        for length in shape:
            check.number(path, f"torus.{key}", length, (1, 4096), True)
    for most, host in zip(torus.get("max_shape", []), torus.get("host_shape", [])):
        if most % host != 0:
            check.fail(path, "torus.host_shape", f"{host} does not divide {most}")
    if torus.get("wrap_rule", "never") not in WRAP_RULES:
        check.fail(path, "torus.wrap_rule", "no such rule")
    if "link" in torus:
        check_link(check, path, "torus.link", torus["link"], is_partial=is_variant)


def check_system(check, path, own, whole):
    check.only(path, "", own, {"name", "full_name", "aliases", "base", "chip",
                               "chips_per_node", "chips_per_host", "levels", "torus",
                               "dcn", "power",
                               "host_bytes_per_chip"})
    if "chips_per_host" in own:
        check.fact(path, "chips_per_host", own["chips_per_host"], (1, 4096), True)
    if "host_bytes_per_chip" in own:
        check.fact(path, "host_bytes_per_chip", own["host_bytes_per_chip"], (1e6, 1e15))
    power = own.get("power", {})
    if check.only(path, "power", power, POWER):
        for key, fact in power.items():
            check.fact(path, f"power.{key}", fact, RANGES.get(key, (0, 1e4)))
    is_variant = "base" in own
    if "levels" in own:
        check_levels(check, path, own["levels"])
    if "torus" in own:
        check_torus(check, path, own["torus"], is_variant)
    if "dcn" in own:
        check_link(check, path, "dcn", own["dcn"], is_partial=is_variant)
    if "torus" in whole:
        return
    per_node = whole.get("chips_per_node")
    levels = whole.get("levels") or [{}]
    if per_node is None:
        check.fail(path, "chips_per_node", "missing")
    elif isinstance(per_node, dict):
        check.fact(path, "chips_per_node", per_node, (1, 4096), True)
        per_node = per_node.get("value")
    inside = [v.get("size") for v in levels if v.get("kind") in LEVEL_KINDS - {"fabric"}]
    if inside and all(isinstance(n, int) for n in inside):
        product = 1
        for n in inside:
            product *= n
        if product != per_node:
            check.fail(path, "chips_per_node", f"the levels inside hold {product} chips")
