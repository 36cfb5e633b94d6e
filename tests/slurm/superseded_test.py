"""Two incarnations of a job: one that is taken for dead is superseded, and writes nothing more when it wakes."""
import os
import signal
import unittest

from slurm_case import ENDED, LocalStudy, SlurmCase

SLOW = '{"rules":[{"arm":"moe_act","sleep_us":500000}]}'


class Superseded(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_a_runner_that_stood_still_writes_nothing_more(self):
        study = self.study(self.local)
        self.assertEqual(study.run("--detach", fake=SLOW).returncode, 0)
        submission = study.wait_submitted()
        study.wait_done(2)
        first, = study.runners()
        os.kill(first["pid"], signal.SIGSTOP)
        self.addCleanup(self.wake, first["pid"])
        script = next(study.root.glob("studies/*/submissions/*.sh"))
        second = self.lab.call("sbatch", "--parsable", "--nodelist=n2", str(script))
        study.wait_runner("complete", 120)
        files = self.content_of(study)
        self.wake(first["pid"])
        self.wait_state(submission["job_id"], ENDED, 60)
        self.assertEqual([runner["end"] for runner in study.runners()], ["superseded", "complete"])
        self.assertEqual(self.content_of(study), files)
        self.check_finished(study.run(), study, self.local)
        self.assertNotEqual(second, str(submission["job_id"]))

    @staticmethod
    def content_of(study):
        """Everything below the trials' folders."""
        return {path: path.read_bytes() for path in study.root.glob("studies/*/trials/**/*") if path.is_file()}

    @staticmethod
    def wake(pid):
        if os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    unittest.main()
