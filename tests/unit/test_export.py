#!/usr/bin/env python3
"""What `ridge export` writes parses as its format, and `ridge train --from` reads it back."""
import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

DENSE = ["llama-3-8b", "--on", "h100:2x8", "--batch", "1Mi", "--seq", "4096"]
KNOBS = ["tp=2", "sp=1", "cp=1", "pp=1", "dp=1", "zero=3", "remat=full", "tp_overlap=0"]


def run(*words):
    done = subprocess.run([ARGS.ridge, *words], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.plan = os.path.join(self.folder.name, "plan.json")

    def export(self, launcher, arguments, knobs):
        code, _, err = run("train", *arguments, *knobs, "--plan", self.plan)
        self.assertEqual(code, 0, err)
        path = os.path.join(self.folder.name, "launch")
        code, out, err = run("export", self.plan, "--to", launcher, "-o", path)
        self.assertEqual((code, out), (0, ""), err)
        with open(path, encoding="utf-8") as f:
            return path, f.read()

    def price_back(self, path, slice_text):
        with open(self.plan, encoding="utf-8") as f:
            plan = json.load(f)
        predicted, stack = plan["predicted"], plan.get("stack", "well-tuned")
        # on the plan's software: a launch file is priced on its framework otherwise
        code, out, err = run("train", "--from", path, "--on", slice_text, "--json",
                             "--stack", stack)
        self.assertEqual(code, 0, err)
        answer = json.loads(out)
        layout = answer["layouts"][0]
        for key in ("mesh", "zero_stage", "vpp", "microbatch_seqs", "remat",
                    "step_time_s", "peak_memory_bytes"):
            self.assertEqual(layout[key], predicted[key], key)
        return answer["from"]

    def test_megatron(self):
        path, text = self.export("megatron", DENSE, KNOBS)
        for line in text.splitlines():
            self.assertRegex(line, r"^--[a-z0-9-]+( \S+)?$")
        self.assertEqual(self.price_back(path, "h100:2x8")["launcher"], "megatron")

    def test_maxtext(self):
        # not on the software of the chips, which overlaps TP as MaxText does not say
        path, text = self.export("maxtext", DENSE, [*KNOBS, "--stack", "well-tuned"])
        for line in text.splitlines():
            self.assertRegex(line, r"^(#.*|[a-z_]+: \S+)$")
        self.price_back(path, "h100:2x8")

    def test_torchtitan(self):
        path, text = self.export("torchtitan", DENSE, KNOBS)
        job = tomllib.loads(text)
        self.assertEqual(job["model"], {"name": "llama3", "flavor": "8B"})
        self.assertEqual(job["parallelism"]["tensor_parallel_degree"], 2)
        self.price_back(path, "h100:2x8")

    def test_deepspeed(self):
        knobs = ["tp=1", "cp=1", "pp=1", "dp=1", "zero=2", "remat=full"]
        _, text = self.export("deepspeed", DENSE, knobs)
        config = json.loads(text)
        self.assertEqual(config["train_batch_size"], 256)
        self.assertEqual(config["zero_optimization"]["stage"], 2)

    def test_python(self):
        for launcher, names in (("megatron-bridge", {"apply"}),
                                ("jax", {"WEIGHTS", "OPTIMIZER", "ACTIVATIONS", "AXES"})):
            _, text = self.export(launcher, DENSE, KNOBS)
            found = set()
            for node in ast.parse(text).body:
                found |= {getattr(node, "name", "")}
                found |= {t.id for t in getattr(node, "targets", []) if hasattr(t, "id")}
            self.assertLessEqual(names, found)

    def test_jax_specs_use_each_axis_once(self):
        _, text = self.export("jax", DENSE, KNOBS)
        axes = set(re.findall(r'"(\w+)"', re.search(r"AXES = \((.*)\)", text).group(1)))
        specs = re.findall(r'": P\((.*)\),  # \[', text)
        self.assertGreater(len(specs), 30)
        for spec in specs:
            used = re.findall(r'"(\w+)"', spec)
            self.assertLessEqual(set(used), axes)
            self.assertEqual(len(used), len(set(used)))

    def test_a_knob_stands_for_the_files(self):
        path, _ = self.export("megatron", DENSE, KNOBS)
        code, out, err = run("train", "--from", path, "--on", "h100:2x8", "tp=4", "--json")
        self.assertEqual(code, 0, err)
        mesh = json.loads(out)["layouts"][0]["mesh"]
        self.assertEqual((mesh["tp"], mesh["dp"] * mesh["fsdp"]), (4, 4))

    def test_sizes_alone_are_read_again_by_a_plan(self):
        path, _ = self.export("megatron", DENSE, KNOBS)
        words = ["train", "--from", path, "--on", "h100:2x8", "--plan", self.plan]
        code, _, err = run(*words)
        self.assertEqual(code, 0, err)
        with open(self.plan) as f:
            self.assertEqual(json.load(f)["model"], f"sizes of {path}")
        code, out, err = run("explain", self.plan, "step_time")
        self.assertEqual(code, 0, err)
        self.assertEqual(run(*words, "llama-3-8b")[0], 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
