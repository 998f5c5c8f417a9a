"""The facts of data/sites, for check_data.py: what each file may say, and within which bounds."""
SITE_RANGES = {
    "pue": (1, 3),
    "network_watts_per_chip": (0, 1e4),
    "write_bytes_per_s": (1e8, 1e15),
    "write_bytes_per_s_per_node": (1e7, 1e12),
    "read_bytes_per_s": (1e8, 1e15),
    "read_bytes_per_s_per_node": (1e7, 1e12),
    "restart_s": (1, 1e5),
    "repair_s": (60, 1e7),
}


def check_site(check, path, own):
    check.only(path, "", own, {"name", "full_name", "aliases", "base", *SITE_RANGES})
    for key, bounds in SITE_RANGES.items():
        if key in own:
            check.fact(path, key, own[key], bounds)
