"""The shape of files: none too long without a reason, every shell script strict, every script executable."""
import os
import unittest

from tree import ROOT, read_text, tree_files

MAX_LINES = 400
LONG_FILES = {}  # path: why it is longer than MAX_LINES
CODE = (".h", ".cpp", ".py", ".cmake", ".sql", ".def")


def scripts():
    return [name for name in tree_files() if name.parts[0] in ("scripts", ".ci") and name.suffix == ""]


def first_line(name):
    return read_text(name).split("\n", 1)[0]


class Files(unittest.TestCase):
    def test_a_long_file_has_a_reason(self):
        code = [name for name in tree_files() if name.suffix in CODE] + scripts()
        long_files = {str(name): len(read_text(name).splitlines()) for name in code}
        over = {name: count for name, count in long_files.items() if count > MAX_LINES and name not in LONG_FILES}
        self.assertEqual(over, {}, f"over {MAX_LINES} lines: split by idea, or name the reason in LONG_FILES")
        self.assertEqual([name for name in LONG_FILES if long_files.get(name, 0) <= MAX_LINES], [], "reasons without need")

    def test_every_script_is_python_or_strict_bash(self):
        for name in scripts():
            with self.subTest(script=str(name)):
                if "python3" in first_line(name):
                    continue
                self.assertEqual(first_line(name), "#!/usr/bin/env bash")
                self.assertIn("set -euo pipefail", read_text(name))

    def test_every_script_is_executable(self):
        self.assertGreater(len(scripts()), 5)
        self.assertEqual([str(name) for name in scripts() if not os.access(ROOT / name, os.X_OK)], [])

    def test_every_header_has_pragma_once_and_says_what_it_is(self):
        for name in tree_files():
            if name.suffix == ".h":
                with self.subTest(header=str(name)):
                    self.assertIn("#pragma once", read_text(name))
                    self.assertTrue(first_line(name).startswith("//"), "wanted a comment of 1 to 5 lines at the head")
