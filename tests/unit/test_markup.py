#!/usr/bin/env python3
"""Charts and pages are well-formed XML and fetch nothing."""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree


class Markup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            text = f.read()
        root = ElementTree.fromstring(text)
        bare = text.replace("http://www.w3.org/2000/svg", "")
        for word in ("http:", "https:", "<script", "@import", "url("):
            self.assertNotIn(word, bare, name)
        return root

    def test_charts(self):
        subprocess.run([ARGS.chart, self.folder.name], check=True)
        names = os.listdir(self.folder.name)
        self.assertGreater(len(names), 5)
        for name in names:
            self.check(name)

    def page(self, *command):
        subprocess.run([ARGS.ridge, *command, "--html", self.path("page.html")], check=True,
                       stdout=subprocess.DEVNULL)
        return self.check("page.html")

    def test_chips_page(self):
        root = self.page("chips")
        self.assertGreater(len(root.findall(".//tr")), 5)

    def test_chip_page(self):
        self.assertGreater(len(self.page("chips", "h100").findall(".//table")), 3)

    def test_model_page(self):
        root = self.page("model", "llama-3-70b")
        self.assertIn("llama-3-70b", "".join(root.find(".//h1").itertext()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--chart", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
