#!/usr/bin/env python3
"""The trace of a step, read by another JSON reader: names, tracks, nesting, overlap."""
import argparse
import collections
import json
import os
import subprocess
import tempfile
import unittest

RIDGE = ""
TINY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "tiny-llama")
# A chip whose software overlaps nothing.
SERIAL = {"name": "serial", "base": "h100",
          "measured": {"source": "fixture", "date": "2024", "overlaps": False, "fuses": False}}


def run(*args):
    return subprocess.run([RIDGE, *args], capture_output=True, text=True, check=False)


class Trace:
    def __init__(self, events):
        self.processes, self.tracks = {}, {}
        self.spans = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "M" and e["name"] == "process_name":
                self.processes[e["pid"]] = e["args"]["name"]
            elif e["ph"] == "M":
                self.tracks[e["pid"], e["tid"]] = e["args"]["name"]
            else:
                self.spans[e["pid"], e["tid"]].append(e)

    def passes(self, pid):
        return [e for e in self.spans[pid, 0]
                if e["cat"].startswith(("forward", "backward"))]


def nests(spans):
    """Whether spans of a track follow each other or lie within each other."""
    open_ends = []
    for e in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
        end = e["ts"] + e["dur"]
        while open_ends and open_ends[-1] <= e["ts"] + 0.01:
            open_ends.pop()
        if open_ends and end > open_ends[-1] + 0.01:
            return False
        open_ends.append(end)
    return True


class StepTrace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "trace.json")
        self.plan = os.path.join(self.folder.name, "plan.json")

    def tearDown(self):
        self.folder.cleanup()

    def train(self, *args):
        done = run("train", "llama-3-8b", "--batch", "256k", "--seq", "4096", "--timeline",
                   self.path, "--plan", self.plan, "--json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path, encoding="utf-8") as f:
            return json.loads(done.stdout), Trace(json.load(f)["traceEvents"])

    def check(self, answer, trace):
        layout = answer["layouts"][0]
        self.assertEqual(len(trace.processes), layout["mesh"]["pp"])
        for key, spans in trace.spans.items():
            self.assertIn(key, trace.tracks)
            self.assertTrue(nests(spans), (key, trace.tracks[key]))
            self.assertTrue(all(e["ts"] >= 0 and e["dur"] > 0 for e in spans))
        for pid in trace.processes:
            self.assertEqual(len(trace.passes(pid)),
                             2 * layout["microbatches"] * layout["vpp"])
        end = max(e["ts"] + e["dur"] for spans in trace.spans.values() for e in spans)
        self.assertAlmostEqual(end / 1e6 / layout["step_time_s"], 1, delta=0.05)

    def test_one_stage(self):
        answer, trace = self.train("--on", "h100:2x8", "pp=1")
        self.check(answer, trace)
        self.assertIn("optimizer", {e["name"] for e in trace.spans[0, 0]})

    def test_a_pipeline_with_bubbles(self):
        answer, trace = self.train("--on", "h100:2x8", "pp=4", "tp=2")
        self.check(answer, trace)
        names = set(trace.tracks.values())
        self.assertIn("nvlink: tp", names)
        self.assertTrue(any(n.endswith("pp down") for n in names), names)
        for pid in range(1, 4):
            self.assertIn("bubble", {e["name"] for e in trace.spans[pid, 0]})

    def test_interleaved(self):
        answer, trace = self.train("--on", "v5p:2x2x4", "pp=2", "vpp=4")
        self.check(answer, trace)
        self.assertIn("F 0.3", {e["name"] for e in trace.passes(0)})

    def test_simulate_writes_the_same(self):
        _, trace = self.train("--on", "h100:2x8", "pp=4", "tp=2")
        done = run("simulate", self.plan, "--timeline", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path, encoding="utf-8") as f:
            again = Trace(json.load(f)["traceEvents"])
        self.assertEqual(trace.spans, again.spans)

    def test_nothing_is_hidden_without_overlap(self):
        chips = os.path.join(self.folder.name, "chips")
        os.mkdir(chips)
        with open(os.path.join(chips, "serial.json"), "w", encoding="utf-8") as f:
            json.dump(SERIAL, f)
        done = run("train", TINY, "--on", "serial:1x8", "--data", self.folder.name, "--batch",
                   "16k", "--seq", "128", "pp=2", "tp=2", "precision=fp32", "--timeline",
                   self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path, encoding="utf-8") as f:
            trace = Trace(json.load(f)["traceEvents"])
        exchanges = 0
        for (pid, tid), spans in trace.spans.items():
            self.assertFalse([e for e in spans if e["name"].startswith("hidden")])
            compute = [(e["ts"], e["ts"] + e["dur"]) for e in trace.spans[pid, 0]
                       if e["name"] == "compute"]
            for e in spans if tid > 0 else []:
                exchanges += 1
                self.assertFalse([c for c in compute if c[0] < e["ts"] + e["dur"] - 0.01 and
                                  e["ts"] < c[1] - 0.01], e)
        self.assertGreater(exchanges, 4)


def main():
    global RIDGE
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", required=True)
    RIDGE = parser.parse_args().ridge
    unittest.main(argv=["test_step_trace"])


if __name__ == "__main__":
    main()
