"""Every C++ file is formatted as .clang-format says."""
import subprocess
import unittest

from tree import ROOT


class Format(unittest.TestCase):
    def test_every_cpp_file_is_formatted(self):
        result = subprocess.run([str(ROOT / "scripts" / "format"), "--check"], capture_output=True, text=True)
        if result.returncode == 77:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
