#!/usr/bin/env python3
"""`ridge profile` from outside: packed files, folders, pages, merged traces, system files."""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACE = os.path.join(ROOT, "examples", "trace.json")
PLAN = os.path.join(ROOT, "examples", "plan.json")
RIDGE = None


def ridge(*words):
    return subprocess.run([RIDGE, *words], capture_output=True, text=True, check=False, cwd=ROOT)


def without_path(answer):
    kept = json.loads(answer)
    for key in ("path",):
        kept.pop(key)
    return kept


class Profile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def answer(self, *words):
        done = ridge("profile", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_packed_trace_is_the_same_trace(self):
        with open(TRACE, "rb") as f:
            plain = f.read()
        with gzip.open(self.path("t.json.gz"), "wb") as f:
            f.write(plain)
        want = without_path(ridge("profile", TRACE, "--json").stdout)
        got = without_path(ridge("profile", self.path("t.json.gz"), "--json").stdout)
        self.assertEqual(got, want)

    def test_a_packed_trace_that_is_cut_off_gives_what_it_has(self):
        with open(TRACE, "rb") as f:
            packed = gzip.compress(f.read())
        with open(self.path("t.json.gz"), "wb") as f:
            f.write(packed[: len(packed) * 2 // 3])
        lost = [row["what"] for row in self.answer(self.path("t.json.gz"))["lost"]]
        self.assertTrue(any("cut off" in what for what in lost), lost)
        self.assertTrue(any("packed" in what for what in lost), lost)

    def test_ranks_of_a_folder_wait_for_the_last(self):
        with open(TRACE, encoding="utf-8") as f:
            trace = json.load(f)
        for rank in range(2):
            trace["distributedInfo"]["rank"] = rank
            for event in trace["traceEvents"]:
                if rank == 1 and "nccl" in event["name"] and event["cat"] == "kernel":
                    event["ts"] += event["dur"] / 2
                    event["dur"] /= 2
            with open(self.path(f"rank{rank}.json"), "w", encoding="utf-8") as f:
                json.dump(trace, f)
        answer = self.answer(self.folder.name)
        ranks = {row["rank"]: row["wait_s"] for row in answer["ranks"]}
        self.assertEqual(ranks[1], 0)
        self.assertAlmostEqual(ranks[0], (510e-6 + 420e-6) / 2, delta=2e-9)

    def test_a_page_needs_nothing_else(self):
        for words in ([TRACE], [TRACE, "--plan", PLAN], [TRACE, "--diff", TRACE]):
            page = self.path("p.html")
            self.assertEqual(ridge("profile", *words, "--html", page).returncode, 0)
            with open(page, encoding="utf-8") as f:
                text = f.read()
            self.assertIn("</html>", text)
            self.assertNotIn("src=", text)

    def test_measured_and_predicted_are_one_trace(self):
        done = ridge("profile", TRACE, "--plan", PLAN, "-o", self.path("both.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("both.json"), encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        names = {e["args"]["name"] for e in events if e.get("name") == "process_name"}
        self.assertTrue(any(name.startswith("measured") for name in names), names)
        self.assertTrue(any(name.startswith("stage") for name in names), names)

    def test_what_a_run_reached_prices_the_next(self):
        system = self.path("here.json")
        done = ridge("profile", TRACE, "--calibrate", system)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(system, encoding="utf-8") as f:
            chip = json.load(f)["chip"]
        self.assertEqual(chip["base"], "h100")
        self.assertTrue(0.5 < chip["achievable"]["matmul"]["bf16"]["value"] < 1)
        done = ridge("roofline", "8192x8192x8192", "--on", system + ":1")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_trace_without_shapes_calibrates_nothing(self):
        with open(self.path("bare.json"), "w", encoding="utf-8") as f:
            f.write('[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, '
                    '"ts": 1, "dur": 2}]')
        done = ridge("profile", self.path("bare.json"), "--on", "h100:1", "--calibrate",
                     self.path("x.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("record shapes", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", required=True)
    arguments, rest = parser.parse_known_args()
    RIDGE = os.path.abspath(arguments.ridge)
    unittest.main(argv=[sys.argv[0]] + rest)
