#!/usr/bin/env python3
"""Exports of Nsight Systems, made by sqlite3: kernels, copies, launches, ranges; damaged ones."""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

RIDGE = None

TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
    streamId INTEGER, correlationId INTEGER, demangledName INTEGER, shortName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
    streamId INTEGER, correlationId INTEGER, bytes INTEGER, copyKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER,
    globalTid INTEGER);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
INSERT INTO StringIds VALUES (1, 'sm90_gemm'), (2, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
    (3, 'cudaLaunchKernel'), (4, 'step 7');
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3');
INSERT INTO NVTX_EVENTS VALUES (0, 10000, NULL, 4, 5), (10000, 20000, 'step 8', NULL, 5);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500, 600, 5, 1, 3), (700, 800, 5, 2, 3),
    (11000, 11100, 5, 3, 3);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 5000, 0, 7, 1, 1, 1),
    (4000, 7000, 0, 9, 2, 2, 2), (12000, 15000, 0, 7, 3, 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (15000, 15500, 0, 7, 9, 4096, 2);
"""


def profile(path):
    done = subprocess.run([RIDGE, "profile", path, "--json"], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Nsys(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "report.sqlite")
        db = sqlite3.connect(self.path)
        db.executescript(TABLES)
        db.commit()
        db.close()

    def tearDown(self):
        self.folder.cleanup()

    def read(self):
        code, out, err = profile(self.path)
        if "built without SQLite" in err:
            self.skipTest("built without SQLite")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_tables_make_a_profile(self):
        answer = self.read()
        self.assertEqual(answer["format"], "nsys")
        self.assertEqual(answer["chip"], "h100")
        self.assertEqual([s["name"] for s in answer["steps"]], ["step 7", "step 8"])
        first = answer["steps"][0]["breakdown"]
        self.assertAlmostEqual(first["matmul_s"], 4e-6)
        self.assertAlmostEqual(first["all_reduce_s"], 2e-6)
        self.assertAlmostEqual(first["hidden_communication_s"], 1e-6)
        self.assertAlmostEqual(answer["steps"][1]["breakdown"]["copy_s"], 0.5e-6)
        self.assertEqual(answer["devices"][0]["launch_queue"]["launched"], 3)

    def test_a_table_that_lacks_is_left_out(self):
        db = sqlite3.connect(self.path)
        db.executescript("DROP TABLE NVTX_EVENTS; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;")
        db.close()
        self.assertEqual(self.read()["devices"][0]["operations"], 3)

    def test_damage_is_no_crash(self):
        self.read()
        with open(self.path, "rb") as f:
            whole = f.read()
        for at in range(0, len(whole), 997):
            with open(self.path, "wb") as f:
                f.write(whole[:at] + b"\xff" * 40 + whole[at + 40:])
            self.assertIn(profile(self.path)[0], (0, 2))
        for size in (17, 100, 4096, 5000, len(whole) - 1000):
            with open(self.path, "wb") as f:
                f.write(whole[:size])
            self.assertIn(profile(self.path)[0], (0, 2))

    def test_another_database_is_refused(self):
        other = os.path.join(self.folder.name, "other.sqlite")
        db = sqlite3.connect(other)
        db.execute("CREATE TABLE t (a INTEGER)")
        db.commit()
        db.close()
        code, _, err = profile(other)
        self.assertEqual(code, 2)
        self.assertIn("sqlite", err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", required=True)
    arguments, rest = parser.parse_known_args()
    RIDGE = arguments.ridge
    unittest.main(argv=[sys.argv[0]] + rest)
