#!/usr/bin/env python3
"""Each check of tools/ passes on a small sound tree and fails on one thing gone wrong."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools")
sys.path.insert(0, TOOLS)
import check_circles  # noqa: E402

SOUND = {
    "tools/layers.txt": "base:\nhardware: base\nmodel: base hardware\n<pthread.h>: base\n",
    "include/ridge/base.h": "/* Base. */\nint ridge_base(int a);\n",
    "include/ridge/hardware.h": '/* Hardware. */\n#include "ridge/base.h"\n',
    "src/base/CMakeLists.txt": "ridge_layer(base SOURCES one.c)\n",
    "src/base/one.c": '/* One. */\n#include "ridge/base.h"\n\n'
                      "static const int table[] = {1};\n\n"
                      "int ridge_base(int a)\n{\n    return a + table[0];\n}\n",
    "src/hardware/CMakeLists.txt": "ridge_layer(hardware SOURCES two.c USES base)\n",
    "src/hardware/two.c": '/* Two: "strcpy(" is only named. */\n#include "two.h"\n',
    "src/hardware/two.h": "/* Two's own. */\n",
    "tests/hardware.cmake": "ridge_test(unit two LAYER hardware)\n",
    "tests/unit/test_two.c": '/* Two. */\n#include "two.h"\n',
    "docs/sources.md": "# Sources\n\n- **acme-x1** — Acme, X1.\n- **adams1990** — Adams, One.\n",
    "data/chips/x1.json": '{"hbm_bytes": {"value": 1, "source": "acme-x1"}}\n',
    "README.md": "See [the table](tools/layers.txt).\n",
}


def run(check: str, changes: dict) -> tuple:
    """Exit code and output of tools/check_<check>.py over SOUND with some files changed."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**SOUND, **changes}.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(TOOLS, f"check_{check}.py"), "--root", root],
            capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def body(lines: int) -> str:
    return "/* F. */\nint f(int a)\n{\n" + "    a++;\n" * lines + "}\n"


class Checks(unittest.TestCase):
    def fails(self, check: str, changes: dict, text: str) -> None:
        code, output = run(check, changes)
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)

    def passes(self, check: str, changes: dict) -> None:
        code, output = run(check, changes)
        self.assertEqual(code, 0, output)

    def test_a_sound_tree_passes_every_check(self):
        for check in ("layers", "includes", "banned", "sizes", "sources", "words", "tree"):
            with self.subTest(check):
                self.passes(check, {})

    def test_a_header_that_uses_nothing_of_another_fails(self):
        used = "int ridge_other(void);\n#define RIDGE_TWICE(a) (ridge_base(a) * 2)\n"
        vain = '/* */\n#include "ridge/base.h"\n'
        self.passes("includes", {"include/ridge/hardware.h": vain + used})
        self.fails("includes", {"include/ridge/hardware.h": vain + "int ridge_other(int a);\n"},
                   "include/ridge/hardware.h:2: nothing of ridge/base.h is used")

    def test_an_include_upwards_names_file_and_line(self):
        self.fails("layers", {"src/base/one.c": '/* */\n#include "ridge/hardware.h"\n'},
                   "src/base/one.c:2: base may not use hardware")

    def test_an_upward_include_in_a_test_fails(self):
        self.fails("layers", {"include/ridge/model.h": "/* */\n",
                              "tests/unit/test_two.c": '/* */\n#include "ridge/model.h"\n'},
                   "hardware may not use model")

    def test_a_private_header_of_another_layer_fails(self):
        self.fails("layers", {"src/base/one.c": '/* */\n#include "two.h"\n'},
                   "src/base/one.c:2")

    def test_a_header_of_a_noun_belongs_to_the_layer_before_its_underscore(self):
        header = {"include/ridge/hardware_link.h": '/* */\n#include "ridge/base.h"\n'}
        self.passes("layers", {**header, "src/hardware/two.c":
                               '/* */\n#include "ridge/hardware_link.h"\n'})
        self.fails("layers", {**header, "src/base/one.c":
                              '/* */\n#include "ridge/hardware_link.h"\n'},
                   "base may not use hardware")
        self.fails("layers", {"include/ridge/base_link.h":
                              '/* */\n#include "ridge/hardware.h"\n'},
                   "base may not use hardware")
        self.fails("layers", {"include/ridge/extra_link.h": "/* */\n"},
                   "layer extra_link is not in")

    def test_an_unknown_layer_fails(self):
        self.fails("layers", {"src/extra/new.c": "/* */\n"}, "layer extra is not in")

    def test_a_system_header_of_another_layer_fails(self):
        self.fails("layers", {"src/hardware/two.c": "/* */\n#include <pthread.h>\n"},
                   "<pthread.h> may only be used by base")

    def test_a_link_upwards_fails(self):
        self.fails("layers", {"src/base/CMakeLists.txt":
                              "ridge_layer(base SOURCES one.c USES hardware)\n"},
                   "base may not link hardware")

    def test_banned_calls_and_constructs_fail(self):
        for line in ("strcpy(a, b);", "x = malloc(3);", "exit(1);", 'printf("x");',
                     "static int n = 0;", "(void)ridge_base(1);"):
            with self.subTest(line):
                self.fails("banned", {"src/hardware/two.c":
                                      f"/* */\nvoid f(void)\n{{\n    {line}\n}}\n"},
                           "src/hardware/two.c:4")

    def test_mutable_globals_fail_and_constants_pass(self):
        for line in ("static int n;", "int n = 3;", "static const char *name = 0;",
                     "static const char *names[2] = {0, 0};"):
            with self.subTest(line):
                self.fails("banned", {"src/base/one.c": f"/* */\n{line}\n"}, "one.c:2")
        for line in ("static const char *const name = 0;", "extern const int n;",
                     "static int f(int a);", "typedef int number;", "struct one;"):
            with self.subTest(line):
                self.passes("banned", {"src/base/one.c": f"/* */\n{line}\n"})

    def test_a_conditional_inside_a_function_fails(self):
        text = "/* */\nint f(void)\n{\n#ifdef A\n    return 1;\n#endif\n    return 2;\n}\n"
        self.fails("banned", {"src/base/one.c": text}, "one.c:4: #if")

    def test_an_excuse_is_taken(self):
        text = "/* */\n/* banned: allow abort, why. */\nvoid f(void) { abort(); }\n"
        self.passes("banned", {"src/base/one.c": text})

    def test_long_functions_and_files_fail(self):
        self.passes("sizes", {"src/base/one.c": body(60)})
        self.fails("sizes", {"src/base/one.c": body(61)}, "f: 61 lines")
        self.fails("sizes", {"src/base/one.c": "\n" * 501}, "501 lines")

    def test_a_long_flat_switch_passes(self):
        cases = "".join(f"    case {i}:\n        return {i};\n" for i in range(40))
        text = "/* */\nint f(int a)\n{\n    switch (a) {\n" + cases + "    }\n}\n"
        self.passes("sizes", {"src/base/one.c": text})

    @unittest.skipUnless(shutil.which("clang-format"), "needs clang-format")
    def test_another_layout_fails(self):
        self.fails("format", {"src/base/one.c": "/* */\nint  a ;\n"}, "src/base/one.c:2")
        self.passes("format", {"src/base/one.c": "/* */\nint a;\n"})

    def test_words_of_one_machine_fail(self):
        home = "/" + "home/me/ridge"
        for line in (f"see {home}", "tail  ", "FIX" + "ME", "<" * 7 + " HEAD"):
            with self.subTest(line):
                self.fails("words", {"README.md": line + "\n"}, "README.md:1")
        self.fails("words", {"README.md": "cut off"}, "no line end")

    def test_a_source_that_is_not_listed_fails(self):
        comment = "/* One.\n * @source adams1990 chapter 3; moore1991,\n * equation 2\n */\n"
        self.fails("sources", {"src/base/one.c": comment}, "src/base/one.c:2: source 'moore1991'")
        self.passes("sources", {"src/base/one.c": comment.replace("moore1991", "acme-x1")})
        self.fails("sources", {"data/chips/x1.json": '{"source": "other"}\n'}, "'other'")
        self.fails("sources", {"data/chips/x1.json": '{"source": ""}\n'}, "(empty)")

    def test_the_list_of_sources_is_in_order(self):
        first, second = "- **a1** — A.\n", "- **b1** — B.\n"
        self.fails("sources", {"docs/sources.md": second + first}, "a1 comes before b1")
        self.fails("sources", {"docs/sources.md": first + first}, "a1 stands here twice")

    def test_files_that_call_each_other_are_a_circle(self):
        graph = {"a.c": {"b.c": "f"}, "b.c": {"c.c": "g"}, "c.c": {"b.c": "h", "d.c": "i"}}
        self.assertEqual(check_circles.circles(graph), [["b.c", "c.c"]])
        self.assertEqual(check_circles.source_of(
            "build/x/src/cost/CMakeFiles/ridge_cost.dir/operation/bound.c.o"),
            "src/cost/operation/bound.c")

    def test_what_is_left_out_fails(self):
        self.fails("tree", {"src/base/three.c": "/* */\n"}, "not built")
        self.fails("tree", {"tests/unit/test_new.c": "/* */\n"}, "declares it")
        self.fails("tree", {"src/base/two.h": "/* */\n"}, "same name")
        self.fails("tree", {"src/base/one.c": "int a;\n"}, "say first")
        self.fails("tree", {"README.md": "[x](docs/none.md)\n"}, "docs/none.md")


if __name__ == "__main__":
    unittest.main()
