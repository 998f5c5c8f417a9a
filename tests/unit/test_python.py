#!/usr/bin/env python3
"""The Python package over the shared library: the examples of its docstrings, its errors, and
what it takes and gives.

    tests/unit/test_python.py --library libridge.so [--preload FILE]
"""

import argparse
import concurrent.futures
import doctest
import importlib
import json
import os
import pathlib
import pkgutil
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


class Config:
    """Like a config object of transformers."""

    def __init__(self, path):
        self._values = json.loads(path.read_text(encoding="utf-8"))

    def to_dict(self):
        return self._values


class Mesh:
    """Like a mesh of JAX."""

    shape = {"x": 4, "y": 2}


class Package(unittest.TestCase):
    def setUp(self):
        self.ridge = importlib.import_module("ridge")

    def test_docstrings(self):
        names = ["ridge"] + ["ridge." + m.name for m in pkgutil.iter_modules(self.ridge.__path__)]
        tried = 0
        for name in names:
            result = doctest.testmod(importlib.import_module(name), verbose=False)
            self.assertEqual(result.failed, 0, name)
            tried += result.attempted
        self.assertGreater(tried, 40)

    def test_text_dict_and_page(self):
        answer = self.ridge.chips("h100", "v5p")
        self.assertIn("h100", str(answer))
        self.assertEqual(answer.to_dict()["verb"], "chips")
        self.assertEqual([chip.name for chip in answer.chips], ["h100", "v5p"])
        self.assertIn("<iframe", answer._repr_html_())
        self.assertIn("</html>", answer.page())
        self.assertIn("<table>", answer.chips[0]._repr_html_())

    def test_lists_show_as_tables(self):
        layouts = self.ridge.train("llama-3-8b", on="h100:1x8", batch="1M", tp=8).layouts
        self.assertIn("step_time_s", str(layouts))
        self.assertIn("<th>mfu</th>", layouts._repr_html_())
        self.assertEqual(layouts.to_dicts()[0]["mesh"]["tp"], 8)

    def test_a_plan_goes_from_verb_to_verb(self):
        serving = self.ridge.serve("llama-3-8b", on="h100:1x4")
        plan = serving.plan()
        self.assertEqual(plan.to_dict()["kind"], "serve")
        self.assertIn("ttft", self.ridge.explain(plan, "ttft").title)
        played = self.ridge.simulate(plan, rate=2, count=50)
        self.assertLessEqual(played.ttft_s.p50, played.ttft_s.p99)
        self.assertIn("vllm", self.ridge.export(plan, to="vllm").text)
        nothing = self.ridge.train("llama-3.1-405b", on="h100:1x8", batch="1M", seq=8192)
        with self.assertRaisesRegex(self.ridge.RidgeError, "no plan"):
            nothing.plan()

    def test_a_config_goes_with_its_plan(self):
        config = Config(ROOT / "examples" / "tiny-llama" / "config.json")
        plan = self.ridge.train(config, on="h100:1x2", batch=8192, seq=512).plan()
        derivation = self.ridge.explain(plan, "memory").derivation
        self.assertEqual(derivation[0].name, "memory")
        self.assertIsInstance(derivation[0].values, str)
        parameters = self.ridge.explain(config, "parameters").derivation
        self.assertEqual(parameters[0].formula, "sum of the parts")

    def test_every_answer_prints_and_shows(self):
        for answer in [
            self.ridge.chips("h100"), self.ridge.model("llama-3-8b"),
            self.ridge.roofline("1024x1024x1024", on="h100"),
            self.ridge.collective("all-gather", "1GiB", on="h100:2x8", over="nvlink"),
            self.ridge.size(days=30, on="h100:64x8"),
            self.ridge.profile(ROOT / "examples" / "trace.json"),
            self.ridge.hlo(ROOT / "examples" / "mlp.hlo", on="h100"),
            self.ridge.validate(ROOT / "examples" / "measured.jsonl"),
            self.ridge.simulate(ROOT / "examples" / "plan.json"),
            self.ridge.explain(ROOT / "examples" / "plan.json"),
            self.ridge.export(ROOT / "examples" / "plan.json", to="maxtext"),
        ]:
            self.assertGreater(len(str(answer)), 100)
            self.assertIn("</html>", answer.page(), answer.verb)
            self.assertEqual(answer.to_dict()["verb"], answer.verb)

    def test_errors_have_the_texts_of_the_program(self):
        with self.assertRaisesRegex(self.ridge.RidgeError, "did you mean h100"):
            self.ridge.train("llama-3-8b", on="h10O:1x8", batch="1M")
        with self.assertRaisesRegex(self.ridge.RidgeError, "tq"):
            self.ridge.train("llama-3-8b", on="h100:1x8", batch="1M", tq=8)
        with self.assertRaises(AttributeError):
            self.ridge.chips("h100").no_such_member

    def test_nothing_fits_is_an_answer(self):
        answer = self.ridge.train("llama-3.1-405b", on="h100:1x8", batch="1M", seq=8192)
        self.assertIsNone(answer.best)

    def test_config_objects_and_meshes(self):
        config = Config(ROOT / "examples" / "tiny-llama" / "config.json")
        by_object = self.ridge.model(config)
        by_path = self.ridge.model(ROOT / "examples" / "tiny-llama" / "config.json")
        self.assertEqual(by_object.parameters.total, by_path.parameters.total)
        self.assertIn("parameters", str(by_object))
        self.assertEqual(by_object.name, config.to_dict()["model_type"])
        sharding = self.ridge.shard("A[I@x,J] * B[J,K@y] -> C[I@x,K@y]", mesh=Mesh(),
                                    dims={"I": 1024, "J": 512, "K": 2048}, on="v5e:4x2")
        self.assertGreater(len(sharding.strategies), 0)

    def test_threads_ask_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            totals = set(pool.map(lambda _: self.ridge.model("llama-3-8b").parameters.total,
                                  range(16)))
        self.assertEqual(totals, {8030261248})


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--library", required=True)
    arguments.add_argument("--preload", default="")
    options = arguments.parse_args()
    if options.preload and "LD_PRELOAD" not in os.environ:
        environment = dict(os.environ, LD_PRELOAD=options.preload, ASAN_OPTIONS="detect_leaks=0")
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    os.environ["RIDGE_LIBRARY"] = options.library
    os.chdir(ROOT)  # the examples of docstrings name files of the tree
    unittest.main(argv=[sys.argv[0]])


if __name__ == "__main__":
    main()
