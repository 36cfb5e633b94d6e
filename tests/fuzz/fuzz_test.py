"""The fuzzers of the sweep parser and of the record reader, side by side for a minute: no finding, and they did read inputs."""
import pathlib
import os
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("REMATCH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SECONDS, SKIPPED, LIMIT_S = 60, 77, 600


class Fuzz(unittest.TestCase):
    def test_a_minute_of_each_fuzzer_finds_nothing(self):
        result = subprocess.run([str(ROOT / "scripts" / "fuzz"), str(SECONDS)], capture_output=True, text=True, timeout=LIMIT_S, cwd=ROOT)
        if result.returncode == SKIPPED:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        inputs = dict(re.findall(r"(fuzz_\w+): no finding in \d+ s, (\d+) inputs", result.stdout))
        self.assertEqual(sorted(inputs), ["fuzz_rank_record", "fuzz_sweep"], result.stdout)
        for name, count in inputs.items():
            self.assertGreater(int(count), 200, f"{name} read hardly anything")


if __name__ == "__main__":
    unittest.main()
