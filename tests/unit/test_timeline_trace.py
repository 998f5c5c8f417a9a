#!/usr/bin/env python3
"""Reads the trace that test_timeline_trace.c wrote: python3 test_timeline_trace.py DIR"""
import collections
import json
import os
import sys
import unittest

FOLDER = sys.argv.pop() if len(sys.argv) > 1 else "."


def read(name: str):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return json.load(f)


class Trace(unittest.TestCase):
    def setUp(self):
        self.events = read("timeline-trace.json")["traceEvents"]
        self.expected = read("timeline-expected.json")
        self.tracks = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                self.tracks[event["tid"]].append(event)

    def test_tracks_are_named(self):
        names = {e["tid"]: e["args"]["name"] for e in self.events
                 if e["name"] == "thread_name"}
        self.assertEqual(names, {0: "chip", 1: "a", 2: "b"})
        self.assertLessEqual(set(self.tracks), set(names))

    def test_no_two_events_of_a_track_overlap(self):
        for events in self.tracks.values():
            events.sort(key=lambda e: e["ts"])
            for before, after in zip(events, events[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1e-6)

    def test_durations_sum_to_the_busy_time(self):
        for track, busy_s in enumerate(self.expected["busy_s"]):
            lengths = sum(e["dur"] for e in self.tracks[track])
            self.assertGreater(busy_s, 0)
            self.assertAlmostEqual(lengths / 1e6, busy_s, delta=1e-9 * busy_s)

    def test_nothing_ends_after_the_total(self):
        last = max(e["ts"] + e["dur"] for events in self.tracks.values() for e in events)
        self.assertAlmostEqual(last / 1e6, self.expected["total_s"], places=9)

    def test_a_name_is_escaped_and_counts_are_there(self):
        product = [e for e in self.tracks[0] if e["name"] == 'pro"duct\\']
        self.assertEqual({e["args"]["repetition"] for e in product}, {0, 1, 2})
        self.assertEqual({e["args"]["matmul_flops"] for e in product}, {2e9})
        gather = [e for e in self.tracks[1] if e["name"] == "weights"]
        self.assertEqual({e["args"]["kind"] for e in gather}, {"all-gather"})
        self.assertEqual({e["args"]["axes"] for e in gather}, {"x"})
        self.assertEqual({e["args"]["bytes"] for e in gather}, {2e6})

    def test_a_collective_over_two_axes_is_on_both(self):
        on = [sorted((e["ts"], e["dur"]) for e in self.tracks[t] if e["name"] == "both")
              for t in (1, 2)]
        self.assertTrue(on[0])
        self.assertEqual(on[0], on[1])


if __name__ == "__main__":
    unittest.main()
