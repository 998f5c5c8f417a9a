#!/usr/bin/env python3
"""A serving plan exported for an engine and read back by `ridge serve --from` is the same."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

DENSE = ["llama-3-70b", "--on", "h100:8", "--prompt", "2048", "--output", "256"]
SPARSE = ["deepseek-v3", "--on", "h200:2x8", "--prompt", "1024", "--output", "256"]


def run(*words):
    done = subprocess.run([ARGS.ridge, *words], capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class ServingExport(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.plan = os.path.join(self.folder.name, "plan.json")

    def export(self, launcher, arguments, knobs):
        code, out, err = run("serve", *arguments, *knobs, "--plan", self.plan, "--json")
        self.assertEqual(code, 0, err)
        path = os.path.join(self.folder.name, "launch")
        code, text, err = run("export", self.plan, "--to", launcher, "-o", path)
        self.assertEqual((code, text), (0, ""), err)
        with open(path, encoding="utf-8") as f:
            return json.loads(out)["layouts"][0], path, f.read()

    def check_back(self, launcher, engine, arguments, knobs):
        best, path, text = self.export(launcher, [*arguments, "--engine", engine],
                                       [*knobs, "batch=64"])
        more = ["--prompt", arguments[4], "--output", arguments[6], "batch=64"]
        code, out, err = run("serve", "--from", path, "--on", arguments[2], *more, "--json")
        self.assertEqual(code, 0, err)
        back = json.loads(out)
        self.assertEqual(back["from"]["unknown"], [])
        self.assertEqual(back["from"]["not_priced"], [])
        found = back["layouts"][0]
        self.assertEqual(found["mode"], best["mode"])
        for a, b in zip(found["pools"], best["pools"], strict=True):
            for key in ("role", "servers", "mesh", "kv_cut", "dtypes"):
                self.assertEqual(a[key], b[key], (launcher, key))
        self.assertAlmostEqual(found["tpot_s"] / best["tpot_s"], 1, delta=1e-4)
        return text

    def test_vllm(self):
        knobs = ["tp=8", "servers=1", "cache=fp8", "gathered=0"]
        text = self.check_back("vllm", "vllm-v1", DENSE, knobs)
        self.assertIn("vllm serve meta-llama/Meta-Llama-3-70B \\\n", text)
        self.assertIn("--kv-cache-dtype fp8", text)
        for line in text.splitlines():
            self.assertRegex(line, r"^(#.*|vllm serve \S+ \\|  --[a-z-]+( (\S+|'.*'))?( \\)?)$")

    def test_vllm_yaml(self):
        knobs = ["tp=4", "servers=2", "mode=aggregated"]
        text = self.check_back("vllm-yaml", "vllm-v1", DENSE, knobs)
        self.assertIn("data-parallel-size: 2\n", text)

    def test_sglang(self):
        knobs = ["mode=aggregated", "tp=1", "attention_dp=8", "ep=8", "gathered=0"]
        text = self.check_back("sglang", "sglang", SPARSE, knobs)
        self.assertIn("--enable-dp-attention", text)

    def test_trtllm_disaggregated(self):
        knobs = ["mode=disaggregated", "tp=1", "attention_dp=8", "ep=8", "gathered=0"]
        text = self.check_back("trtllm", "trtllm", SPARSE, knobs)
        files = re.findall(r"cat > (\S+) <<'?EOF'?\n(.*?)\nEOF\n", text, re.S)
        self.assertEqual([f[0] for f in files],
                         ["context.yaml", "generation.yaml", "disaggregated.yaml"])
        self.assertEqual(text.count("trtllm-serve deepseek-ai/DeepSeek-V3 "), 2)

    def test_scripts_are_shell(self):
        for launcher in ("vllm", "sglang", "trtllm"):
            _, path, _ = self.export(launcher, DENSE, ["tp=8", "gathered=0"])
            done = subprocess.run(["sh", "-n", path], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_knobs_stand_for_the_commands(self):
        _, path, _ = self.export("vllm", DENSE, ["tp=8", "gathered=0"])
        code, out, err = run("serve", "--from", path, "--on", "h100:8", "tp=4", "servers=2",
                             "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["layouts"][0]["pools"][0]["mesh"]["tp"], 4)

    def test_what_is_wrong(self):
        words = ["serve", "--from", "vllm serve llama-3-8b --max-model-len 1024", "--on", "h100:1"]
        code, _, err = run(*words)
        self.assertEqual(code, 2)
        self.assertIn("takes sequences of 1024", err)
        code, _, err = run("serve", "--from", "/nowhere/x.sh", "--on", "h100:1")
        self.assertEqual(code, 2)
        code, _, err = run("serve", "--on", "h100:1")
        self.assertEqual(code, 2)
        self.assertIn("or --from FILE", err)
        _, path, _ = self.export("vllm", DENSE, ["tp=8", "gathered=0"])
        code, _, err = run("export", self.plan, "--to", "megatron")
        self.assertEqual(code, 2)
        self.assertIn("unknown serving engine 'megatron'", err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
