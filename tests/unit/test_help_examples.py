#!/usr/bin/env python3
"""The example in the help of each verb is a command that runs.

    test_help_examples.py --ridge PROGRAM
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIDGE = None
SERVES = {"ui"}  # runs until it is stopped


def ridge(*args):
    return subprocess.run([RIDGE, *args], capture_output=True, text=True, timeout=100, cwd=ROOT)


def verbs():
    text = ridge("--help").stdout
    return re.findall(r"^  ([a-z]+)  ", text[text.index("Verbs:"):text.index("  help VERB")], re.M)


class HelpExamples(unittest.TestCase):
    def test_each_verb_has_an_example_that_runs(self):
        found = verbs()
        self.assertGreater(len(found), 10)
        for verb in found:
            with self.subTest(verb=verb):
                text = ridge(verb, "--help").stdout
                example = shlex.split(text[text.index("Example:"):].splitlines()[1])
                self.assertEqual(example[:2], ["ridge", verb])
                if verb in SERVES:
                    continue
                answer = ridge(*example[1:])
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertTrue(answer.stdout.strip())


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--ridge", required=True)
    known, rest = arguments.parse_known_args()
    RIDGE = known.ridge
    unittest.main(argv=sys.argv[:1] + rest)
