"""scripts/gpu_check on the CPU: the same steps as on a GPU machine, so that nothing but the device is new there."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from workspace import BIN, ROOT


def dry_run(trainer, out, limit_s):
    command = [str(ROOT / "scripts/gpu_check"), "--dry-run-cpu", "--trainer", str(trainer), "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=limit_s)


class GpuCheck(unittest.TestCase):
    def test_the_dry_run_holds_every_check_and_writes_its_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "gpu_check.json"
            result = dry_run(BIN / "rematch-train", out, limit_s=280)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            figures = json.loads(out.read_text())
        self.assertTrue(figures["all_hold"])
        self.assertEqual([run["exit_code"] for run in figures["runs"]], [0] * len(figures["runs"]))
        self.assertEqual(figures["runs"][0]["arm"], "[]")
        self.assertGreaterEqual(len(figures["checks"]), 3 * len(figures["runs"]))
        for run in figures["runs"]:
            self.assertGreater(run["peak_allocated_bytes"], 0)
            self.assertGreater(run["median_step_time_ns"], 0)

    def test_a_missing_trainer_is_said_and_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "gpu_check.json"
            result = dry_run(f"{folder}/none", out, limit_s=30)
            self.assertEqual(result.returncode, 8)
            self.assertIn(f"{folder}/none", result.stderr)
            self.assertFalse(out.exists())
