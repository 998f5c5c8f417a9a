#!/usr/bin/env python3
"""`ridge serve --speculation` from outside: table, JSON, page, chart, complaints."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

SERVE = ["serve", "llama-3.1-8b", "--on", "h100:1", "--prompt", "1024", "--output", "256"]


def run(*words):
    done = subprocess.run([ARGS.ridge, *words], capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def study(speculation, *more):
    code, out, err = run(*SERVE, "--speculation", speculation, "--json", *more)
    assert code == 0, err
    return json.loads(out)["speculation"]


class Speculation(unittest.TestCase):
    def test_tokens_are_the_formula(self):
        found = study("eagle,depth=5,accept=0.8")
        self.assertEqual(found["kind"], "eagle")
        for row in found["rows"]:
            self.assertEqual([p["depth"] for p in row["chains"]], [1, 2, 3, 4, 5])
            for p in row["chains"]:
                self.assertAlmostEqual(p["tokens"], (1 - 0.8 ** (p["depth"] + 1)) / 0.2, 9)
                self.assertAlmostEqual(p["speedup"],
                                       row["plain_s"] / p["iteration_s"] * p["tokens"], 9)

    def test_batches_ascend_and_the_best_depth_falls(self):
        found = study("eagle,depth=8,accept=0.75")
        batches = [row["batch"] for row in found["rows"]]
        self.assertEqual(batches, sorted(batches))
        best = [row["best_depth"] or 0 for row in found["rows"]]
        self.assertGreater(best[0], best[-1])

    def test_trees(self):
        found = study("medusa,depth=4,accept=0.6,next=0.2,nodes=32")
        first = found["rows"][0]["tree"]
        self.assertEqual(sum(first["levels"]), first["nodes"])
        self.assertGreater(first["speedup"], max(p["speedup"] for p in
                                                 found["rows"][0]["chains"]))
        self.assertNotIn("tree", study("ngram,depth=2,accept=0.7")["rows"][0])

    def test_a_stop_is_between_rows(self):
        found = study("model=llama-3.2-3b,depth=4,accept=0.3")
        stop = found["stops_paying_at"]
        paying = [row["batch"] for row in found["rows"] if row["best_depth"]]
        self.assertTrue(stop is None or not paying or stop > paying[-1])

    def test_published_acceptance_by_name(self):
        found = study("eagle,accept=eagle-vicuna-7b,depth=5")
        self.assertEqual(found["acceptance"], [0.79, 0.74, 0.72, 0.73, 0.67])
        code, _, err = run(*SERVE, "--draft", "eagle", "--accept", "eagle-vicuna-7b")
        self.assertEqual(code, 0, err)

    def test_page_and_chart(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "a.html")
            chart = os.path.join(folder, "a.svg")
            code, out, err = run(*SERVE, "--speculation", "eagle", "--html", page, "--svg", chart)
            self.assertEqual(code, 0, err)
            self.assertIn("Speed-up over batch by depth", out)
            with open(page, encoding="utf-8") as f:
                self.assertIn("<svg", f.read())
            with open(chart, encoding="utf-8") as f:
                self.assertTrue(f.read().startswith("<svg"))

    def test_complaints(self):
        for words, message in ((["--speculation", "eagel"], "did you mean eagle?"),
                               (["--speculation", "none"], "nothing drafts"),
                               (["--speculation", "eagle,accept=2"], "chances from 0 to 1"),
                               (["--draft", "eagle", "--accept", "no-such"], "unknown acceptance"),
                               (["--draft", "eagle"], "--accept")):
            code, _, err = run(*SERVE, *words)
            self.assertEqual(code, 2, words)
            self.assertIn(message, err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
