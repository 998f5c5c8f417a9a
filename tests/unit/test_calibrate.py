#!/usr/bin/env python3
"""ridge calibrate, and the verbs that take its file: shapes and laws, no times.

    test_calibrate.py --ridge PROGRAM
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

RIDGE = ""
MODEL = {"model_type": "llama", "hidden_size": 128, "intermediate_size": 256,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
         "vocab_size": 512, "hidden_act": "silu"}


def ridge(folder: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([RIDGE, *words], cwd=folder, capture_output=True, text=True,
                          check=False, timeout=280)


class Calibrate(unittest.TestCase):
    folder = tempfile.TemporaryDirectory()
    report: dict = {}

    @classmethod
    def setUpClass(cls):
        done = ridge(cls.folder.name, "calibrate", "--ranks", "2", "--threads", "1",
                     "--quick", "--json", "-o", "here.json")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.report = json.loads(done.stdout)
        with open(os.path.join(cls.folder.name, "config.json"), "w", encoding="utf-8") as f:
            json.dump(MODEL, f)

    def predict(self, *knobs: str) -> dict:
        done = ridge(self.folder.name, "train", "config.json", "--on", "here.json:2",
                     "--batch", "2048", "--seq", "256", "--precision", "fp32", "--json",
                     *knobs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["layouts"][0]

    def test_report_says_what_was_measured(self):
        self.assertEqual(self.report["ranks"], 2)
        self.assertEqual(self.report["threads"], 1)
        self.assertGreater(self.report["peak_flops_per_s"], 1e8)
        with open(os.path.join(self.folder.name, "here.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f), self.report["system"])

    def test_grids_are_full(self):
        measured = self.report["system"]["chip"]["measured"]
        for form in ("fp32", "bf16"):
            grid = measured["matmul_flops_per_s"][form]
            self.assertEqual(len(grid["rates"]),
                             len(grid["m"]) * len(grid["k"]) * len(grid["n"]))
            for name in ("norm", "norm_backward", "swiglu", "loss", "update", "dispatch"):
                self.assertIn(f"{name}.{form}", measured["stream_bytes_per_s"])
            self.assertIn(f"forward.{form}", measured["attention_flops_per_s"])
        level = self.report["system"]["levels"][0]["measured"]
        self.assertEqual(len(level["collective_bytes_per_s"]), 6)

    def test_other_verbs_take_the_file(self):
        for words in (("roofline", "64x128x256", "--on", "here.json"),
                      ("collective", "all-reduce", "1MB", "--on", "here.json:2", "--over",
                       "ranks"),
                      ("shard", "A[I,J@x] * B[J@x,K] -> C[I,K]", "--mesh", "x=2", "--dims",
                       "I=64,J=64,K=64", "--on", "here.json:2")):
            done = ridge(self.folder.name, *words)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_takes_the_quicker_format(self):
        with open(os.path.join(self.folder.name, "text"), "w", encoding="utf-8") as f:
            f.write("a text to train on " * 200)
        words = ("run", "config.json", "--data", "text", "--steps", "1", "--seq", "32",
                 "--on", "here.json", "--json")
        done = ridge(self.folder.name, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        times = report["format"]
        quicker = "bf16" if times["bf16_s"] < times["fp32_s"] else "fp32"
        self.assertEqual(times["chosen"], quicker)
        self.assertIn(quicker, report["layout"])
        done = ridge(self.folder.name, *words, "precision=bf16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("format", json.loads(done.stdout))

    def test_layouts_have_the_parts_that_they_ask_for(self):
        parts = {"dp=2": "dp_s", "tp=2": "tp_s", "cp=2": "cp_s", "pp=2": "bubble_s"}
        for knob, part in parts.items():
            layout = self.predict(knob, "microbatch=2", "remat=none")
            self.assertGreater(layout["breakdown"][part], 0, knob)
            self.assertAlmostEqual(sum(layout["breakdown"].values()),
                                   layout["step_time_s"], delta=1e-6)

    def test_bad_requests_are_refused(self):
        for words in (("--ranks", "0"), ("--ranks", "1.5"), ("--engine", "cuda"),
                      ("--threads", "1e9")):
            done = ridge(self.folder.name, "calibrate", *words)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(done.stderr.startswith("ridge: "), done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", required=True)
    options, rest = parser.parse_known_args()
    RIDGE = os.path.abspath(options.ridge)
    unittest.main(argv=[sys.argv[0], *rest])
