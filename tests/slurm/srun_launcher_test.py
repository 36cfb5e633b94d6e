"""The launcher `srun` in two allocations of two nodes each, side by side: what every launcher owes, and what only a job step can show."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from slurm_lab import SlurmLab

PROGRAM = pathlib.Path(os.environ["REMATCH_BIN_DIR"]) / "test_contract"
LAB_PROGRAM = pathlib.Path(__file__).with_name("slurm_lab.py")
WHY_NOT = SlurmLab.why_not()
LIMIT_S = 100


@unittest.skipIf(WHY_NOT, f"no Slurm here: {WHY_NOT}")
class SrunLauncher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rematch-srun-")
        self.addCleanup(folder.cleanup)
        self.lab = SlurmLab(pathlib.Path(folder.name) / "lab")
        self.addCleanup(self.lab.end)
        self.lab.start(nodes=4)

    def start(self, nodes, tests, **variables):
        command = ["salloc", "--quiet", f"--nodelist={nodes}", "--nodes=2", "--exclusive", "--no-kill", str(PROGRAM), f"--gtest_filter={tests}"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.lab.folder,
                                env={**self.lab.environment(), **variables}, start_new_session=True)

    def test_owes_what_every_launcher_owes_and_tells_nodes_apart(self):
        fail_node = f"{sys.executable} -B {LAB_PROGRAM} fail-node {self.lab.folder}"
        # The node that fails is the last deed of its allocation.
        started = [self.start("n1,n2", "*/srun"),
                   self.start("n3,n4", "*JobStepOfItsOwn*/srun", REMATCH_FAIL_NODE=fail_node)]
        for process in started:
            output, _ = process.communicate(timeout=LIMIT_S)
            self.assertEqual(process.returncode, 0, output)
            self.assertIn("[  PASSED  ]", output)
            self.assertNotIn("Running 0 tests", output)


if __name__ == "__main__":
    unittest.main()
