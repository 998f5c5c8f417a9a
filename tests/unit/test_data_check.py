#!/usr/bin/env python3
"""tools/check_data.py passes sound facts and names file and key of each thing gone wrong."""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../tools/check_data.py")


def fact(value, source="acme-sheet", date="2024-05"):
    return {"value": value, "source": source, "date": date}


LINK = {"bytes_per_s": fact(4e11), "latency_s": fact(1e-6), "startup_s": fact(5e-6),
        "efficiency": fact(0.8), "half_rate_bytes": fact(0)}

SOUND = {
    "data/chips/x1.json": {
        "name": "x1", "full_name": "Acme X1", "vendor": "Acme", "kind": "gpu",
        "aliases": ["acme x1"], "year": 2024, "default_system": "box",
        "peak_flops_per_s": {"bf16": fact(4e14)}, "vector_flops_per_s": fact(2e13),
        "hbm_bytes": fact(8e10), "hbm_bytes_per_s": fact(2e12), "cores": fact(100),
        "achievable": {"matmul": {"bf16": fact(0.8)}, "memory": fact(0.9)}},
    "data/chips/x2.json": {"name": "x2", "base": "x1", "default_system": "box2",
                           "hbm_bytes": fact(1.6e11)},
    "data/systems/box.json": {
        "name": "box", "full_name": "Acme box", "chip": "x1", "chips_per_node": 8,
        "levels": [{"name": "link", "kind": "switch", "size": 8, **LINK},
                   {"name": "leaf", "kind": "fabric", "size": 0, **LINK}]},
    "data/systems/box2.json": {"name": "box2", "base": "box", "chip": "x2"},
    "data/systems/grid.json": {
        "name": "grid", "full_name": "Acme grid", "chip": "x1",
        "torus": {"dims": 2, "max_shape": [16, 16], "host_shape": [2, 2],
                  "wrap_rule": "full-axis", "link": LINK}},
    "data/prices/acme.json": {
        "provider": "acme",
        "prices": [{"chip": "x1", "kind": "on-demand", "usd_per_chip_hour": 2.5,
                    "source": "acme-sheet", "date": "2024"}]},
}


def run(path=None, keys=(), value=None):
    """Exit code and output over SOUND with one member of one file set, or taken away."""
    files = copy.deepcopy(SOUND)
    if path is not None:
        at = files[path]
        for key in keys[:-1]:
            at = at[key]
        if value is None:
            del at[keys[-1]]
        else:
            at[keys[-1]] = value
    with tempfile.TemporaryDirectory() as root:
        texts = {name: json.dumps(item) for name, item in files.items()}
        texts["docs/sources.md"] = "# Sources\n\n- **acme-sheet** — Acme, X1, 2024.\n"
        for name, text in texts.items():
            full = os.path.join(root, name)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run([sys.executable, "-B", CHECK, "--root", root],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


X1 = "data/chips/x1.json"
BOX = "data/systems/box.json"
GRID = "data/systems/grid.json"
ACME = "data/prices/acme.json"


class DataCheck(unittest.TestCase):
    def fails(self, path, keys, value, text):
        code, output = run(path, keys, value)
        self.assertEqual(code, 1, output)
        self.assertIn(f"{path}:{text}", output)

    def test_sound_facts_pass(self):
        code, output = run()
        self.assertEqual(code, 0, output)
        self.assertIn("0 complaints", output)

    def test_a_fact_without_a_listed_source_or_date_fails(self):
        self.fails(X1, ("hbm_bytes", "source"), "rumour", "hbm_bytes: source 'rumour'")
        self.fails(X1, ("hbm_bytes", "source"), None, "hbm_bytes: source None")
        self.fails(X1, ("hbm_bytes", "date"), "May 2024", "hbm_bytes: date 'May 2024'")
        self.fails(ACME, ("prices", 0, "date"), None, "prices[0]: date None")

    def test_a_value_out_of_range_fails(self):
        self.fails(X1, ("peak_flops_per_s", "bf16"), fact(400), "peak_flops_per_s.bf16: 400")
        self.fails(X1, ("achievable", "memory"), fact(90), "achievable.memory: 90")
        self.fails(X1, ("cores",), fact(1.5), "cores: a whole number")
        self.fails(BOX, ("levels", 0, "efficiency"), fact(1.5), "levels[0].efficiency: 1.5")
        self.fails(ACME, ("prices", 0, "usd_per_chip_hour"), 900,
                   "prices[0].usd_per_chip_hour: 900")

    def test_a_bare_number_fails(self):
        self.fails(X1, ("hbm_bytes",), 8e10, "hbm_bytes: an object is wanted")

    def test_unknown_and_missing_keys_fail(self):
        self.fails(X1, ("hbm_size",), fact(8e10), "hbm_size: unknown key")
        self.fails(X1, ("hbm_bytes",), None, "hbm_bytes: missing")
        self.fails(BOX, ("levels", 1, "startup_s"), None, "levels[1].startup_s: missing")
        self.fails(GRID, ("torus", "wrap_rule"), None, "torus.wrap_rule: missing")

    def test_names_that_lead_nowhere_fail(self):
        self.fails(X1, ("default_system",), "none", "default_system: no system is called")
        self.fails(X1, ("default_system",), "box2", "default_system: box2 is of x2")
        self.fails(BOX, ("chip",), "x9", "chip: no chip is called 'x9'")
        self.fails(ACME, ("prices", 0, "chip"), "x9", "prices[0].chip: no chip")
        self.fails("data/chips/x2.json", ("base",), "x9", "base: no such base")

    def test_a_name_for_two_chips_fails(self):
        self.fails("data/chips/x2.json", ("aliases",), ["ACME X1"], "aliases: 'ACME X1'")

    def test_an_efficiency_of_a_format_without_a_peak_fails(self):
        self.fails(X1, ("achievable", "matmul", "fp8"), fact(0.7),
                   "achievable.matmul.fp8: the chip has no such peak")

    def test_a_node_that_its_levels_do_not_fill_fails(self):
        self.fails(BOX, ("chips_per_node",), 4, "chips_per_node: the levels inside hold 8")

    def test_a_host_that_does_not_tile_the_pod_fails(self):
        self.fails(GRID, ("torus", "host_shape"), [3, 2], "torus.host_shape: 3 does not divide")


if __name__ == "__main__":
    unittest.main()
