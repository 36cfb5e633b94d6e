"""scripts/gpu_check on the CPU: the same steps as on a GPU machine, so that nothing but the device is new there."""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import tempfile
import unittest

from workspace import BIN, ROOT, Workspace


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
        replays = [check["replay"] for check in figures["checks"] if "replay" in check]
        self.assertEqual(len(replays), len({run["preset"] for run in figures["runs"]}))
        for replay in replays:
            self.assertGreater(replay["peak_reserved_bytes"], replay["fragmentation"]["reserved_less_allocated_bytes"])
        in_place = [check for check in figures["checks"] if "gradient in place" in check["check"]]
        controls = [run for run in figures["runs"] if run["arm"] == "[]"]
        self.assertEqual([check["preset"] for check in in_place], [run["preset"] for run in controls])
        for check, control in zip(in_place, controls):
            self.assertTrue(check["to_the_bit"], check)
            self.assertGreater(check["num_gradients"], 0)
            self.assertLessEqual(check["activation_peak_allocated_bytes"], control["activation_peak_allocated_bytes"])
        # Where the peak is not at the loss it stays.
        self.assertTrue(any(check["activation_peak_allocated_bytes"] < control["activation_peak_allocated_bytes"]
                            for check, control in zip(in_place, controls)))
        for run in figures["runs"]:
            self.assertGreater(run["peak_allocated_bytes"], 0)
            self.assertGreater(run["median_step_time_ns"], 0)

    def test_its_model_is_that_of_the_first_sweep(self):
        script = str(ROOT / "scripts/gpu_check")
        loader = importlib.machinery.SourceFileLoader("gpu_check", script)
        gpu_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
        loader.exec_module(gpu_check)
        planned = Workspace(self).rematch("plan", "--json", "sweeps/first.yaml")
        trial = json.loads(planned.stdout)["study"]["trials"][0]
        self.assertEqual(trial["model"]["overridden"], sorted(gpu_check.TINY))
        self.assertEqual({name: trial["model"]["fields"][name] for name in gpu_check.TINY}, gpu_check.TINY)
        self.assertEqual(trial["training"]["seq_length"], gpu_check.CASES[0]["seq_length"])

    def test_a_missing_trainer_is_said_and_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "gpu_check.json"
            result = dry_run(f"{folder}/none", out, limit_s=30)
            self.assertEqual(result.returncode, 8)
            self.assertIn(f"{folder}/none", result.stderr)
            self.assertFalse(out.exists())
