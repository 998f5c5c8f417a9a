#!/usr/bin/env python3
"""The program among other programs: pipes, files, completions, the signals of a shell."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest


def shell(line):
    environment = dict(os.environ, PATH=os.path.dirname(ARGS.ridge) + ":" + os.environ["PATH"])
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60,
                          env=environment, check=False)


class Shell(unittest.TestCase):
    def test_a_closed_pipe_is_quiet(self):
        done = shell("set -o pipefail; for i in 1 2 3; do ridge names models | head -n 1; done")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_full_disk_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        done = shell("ridge chips > /dev/full")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^ridge: stdout: .+: .+\n$")

    def test_output_goes_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out")
            done = shell(f"ridge chips -o {path}")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.read(), shell("ridge chips").stdout)

    def test_a_missing_folder_is_an_error(self):
        done = shell("ridge chips -o /nonexistent/folder/file")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_json_is_json(self):
        chips = json.loads(shell("ridge chips --json").stdout)
        self.assertEqual(chips["verb"], "chips")
        for chip in chips["chips"]:
            self.assertGreater(chip["peak_flops_per_s"].get("bf16", 1), 0)
        model = json.loads(shell("ridge model llama-3-70b --json").stdout)
        parts = model["parameters"]
        named = ("embedding", "unembedding", "attention", "mlp", "router", "experts", "norm")
        self.assertEqual(sum(parts[name] for name in named), parts["total"])

    def test_text_has_no_colour_in_a_pipe(self):
        self.assertNotIn("\x1b", shell("ridge chips").stdout)

    def test_completions_are_scripts(self):
        for name in ("bash", "zsh", "fish"):
            if not shutil.which(name):
                continue
            done = shell(f"ridge completion {name} > script; {name} -n script; rm script")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def complete(self, words):
        line = " ".join(words)
        return shell("source <(ridge completion bash); "
                     f"COMP_WORDS=({line} ''); COMP_CWORD={len(words)}; _ridge; "
                     "printf '%s\\n' \"${COMPREPLY[@]}\"").stdout.split()

    def test_bash_completes(self):
        self.assertIn("model", self.complete(["ridge"]))
        self.assertIn("h100", self.complete(["ridge", "chips"]))
        self.assertIn("llama-3-70b", self.complete(["ridge", "model"]))

    def test_hostile_names_stay_on_one_line(self):
        done = shell("ridge model $'a\\nb\\033[31m'")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertNotIn("\x1b", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    ARGS, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as work:
        ARGS.ridge = os.path.abspath(ARGS.ridge)
        os.chdir(work)
        unittest.main(argv=sys.argv[:1] + rest)
