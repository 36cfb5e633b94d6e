"""The lab itself: a Slurm of two nodes comes up, runs a step on both, loses one, loses its controller, and goes without a trace."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from lab_processes import wait_until
from slurm_lab import LabError, SlurmLab

WHY_NOT = SlurmLab.why_not()


@unittest.skipIf(WHY_NOT, f"no Slurm here: {WHY_NOT}")
class Lab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rematch-lab-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "lab"
        self.lab = SlurmLab(self.folder)
        self.addCleanup(self.lab.end)

    def state_of(self, job):
        return self.lab.call("squeue", "-h", "-t", "all", "-j", job, "-o", "%T")

    def test_two_nodes_run_a_step_fail_come_back_and_leave_nothing(self):
        self.lab.start(nodes=2)
        nodes = self.lab.call("srun", "--nodes=2", "--ntasks-per-node=2", "sh", "-c", "echo $SLURMD_NODENAME").split()
        self.assertEqual(sorted(nodes), ["n1", "n1", "n2", "n2"])

        job = self.lab.call("sbatch", "--parsable", "--no-requeue", "--nodes=2", "--output=/dev/null", "--wrap", "srun sleep 100")
        self.assertTrue(wait_until(lambda: len(self.lab.processes.of_jobs("n2")) > 0, 20), self.state_of(job))
        self.lab.fail_node("n2")
        self.assertEqual(self.lab.processes.of_jobs("n2"), {})
        self.assertTrue(wait_until(lambda: self.state_of(job) == "NODE_FAIL", 20), self.state_of(job))
        self.lab.start_node("n2")
        self.assertTrue(wait_until(lambda: self.lab.job_leftovers() == [], 20), self.lab.job_leftovers())

        self.lab.kill_controller()
        self.lab.start_controller()
        self.assertTrue(any("slurmctld" in line for line in self.lab.leftovers()))
        self.lab.end()
        self.assertEqual(self.lab.leftovers(), [])
        self.assertFalse(self.folder.exists())

    def test_a_lab_ends_with_the_process_that_started_it(self):
        program = f"import os; from slurm_lab import SlurmLab; SlurmLab({str(self.folder)!r}).start(nodes=1); os.kill(os.getpid(), 9)"
        died = subprocess.run([sys.executable, "-B", "-c", program], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(died.returncode, -9, died.stderr)
        self.assertTrue(wait_until(lambda: not self.folder.exists() and not self.lab.leftovers(), 20), self.lab.leftovers())

    def test_a_folder_in_use_is_refused(self):
        self.folder.mkdir()
        (self.folder / "slurm.conf").write_text("")
        with self.assertRaisesRegex(LabError, "not empty"):
            self.lab.start()


if __name__ == "__main__":
    unittest.main()
