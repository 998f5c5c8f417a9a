#!/usr/bin/env python3
"""Large and broken files are answered with one line, exit 2, and soon."""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import unittest


def cpu_s():
    """Processor time of the programs that have ended: a loaded machine changes little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refuse(self, *pieces):
        """`ridge model` on a file of (text, times) pieces."""
        path = os.path.join(self.folder.name, "config.json")
        with open(path, "wb") as f:
            for text, times in pieces:
                f.write(text * times)
        start = cpu_s()
        done = subprocess.run([ARGS.ridge, "model", path], capture_output=True, timeout=60,
                              check=False)
        self.assertLess(cpu_s() - start, ARGS.refusal_s)
        self.assertEqual(done.returncode, 2, done.stderr[-500:])
        self.assertEqual(done.stdout, b"")
        self.assertTrue(done.stderr.startswith(b"ridge: "))
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertLess(len(done.stderr), 1000)

    def test_100_megabytes_of_brackets(self):
        self.refuse((b"[", 100_000_000))

    def test_100_megabytes_of_objects(self):
        self.refuse((b'{"a":', 20_000_000))

    def test_one_long_string(self):
        self.refuse((b'{"model_type": "', 1), (b"x", 100_000_000))

    def test_nul_bytes(self):
        self.refuse((b"\0", 1_000_000))

    def test_not_utf8(self):
        self.refuse((b'{"model_type": "\xff\xfe"}', 1))

    def test_an_empty_file(self):
        self.refuse((b"", 1))

    def test_no_object(self):
        self.refuse((b"3", 1))

    def test_numbers_beyond_belief(self):
        self.refuse((b'{"model_type": "llama", "hidden_size": 1e30, "num_hidden_layers": '
                     b'1e30, "num_attention_heads": 8, "intermediate_size": 9e300, '
                     b'"vocab_size": 32000}', 1))

    def test_products_that_overflow(self):
        self.refuse((b'{"model_type": "llama", "hidden_size": 2147483647, '
                     b'"num_hidden_layers": 2147483647, "num_attention_heads": 2147483647, '
                     b'"intermediate_size": 2147483647, "vocab_size": 2147483647}', 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--refusal-s", type=float, default=2.0)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
