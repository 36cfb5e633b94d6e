"""scripts/test_summary: skipped tests with the reasons that GoogleTest and unittest gave, slow ones in order, failed ones by name."""
import pathlib
import subprocess
import tempfile
import unittest

from tree import ROOT

RESULTS = """\
<testsuite tests="4">
  <testcase name="Clock.Ticks" time="0.5" status="run"/>
  <testcase name="Gpu.Peaks" time="0.01" status="notrun">
    <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>gpu_test.cpp:7: Skipped&#10;no GPU on this machine,&#10;nor a driver&#10;&#10;[  SKIPPED ] Gpu.Peaks (0 ms)</system-out>
  </testcase>
  <testcase name="lint.format_test" time="2.25" status="run"><system-out>SKIPPED format_test.Format: no clang-format-14</system-out></testcase>
  <testcase name="Plan.Order" time="0.1" status="fail"><failure message="no"/></testcase>
</testsuite>
"""


def summarise(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.xml"
        if text is not None:
            path.write_text(text)
        return subprocess.run([str(ROOT / "scripts" / "test_summary"), str(path)], capture_output=True, text=True)


class TestSummary(unittest.TestCase):
    def test_each_skipped_test_is_listed_with_its_reason(self):
        output = summarise(RESULTS).stdout
        self.assertIn("skipped: 2", output)
        self.assertIn("Gpu.Peaks: no GPU on this machine, nor a driver", output)
        self.assertIn("lint.format_test: format_test.Format: no clang-format-14", output)

    def test_the_slowest_test_comes_first_and_failures_are_named(self):
        output = summarise(RESULTS).stdout
        self.assertLess(output.index("2.25 s"), output.index("0.50 s"))
        self.assertIn("failed: 1\n  Plan.Order", output)

    def test_no_result_is_a_failure(self):
        self.assertEqual(summarise(None).returncode, 1)
        self.assertEqual(summarise("<testsuite tests='0'/>").returncode, 1)
