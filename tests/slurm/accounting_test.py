"""A cluster with accounting: the end of a job that the controller has forgotten is known by sacct, and without it by the study's files."""
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_for

SLOW = '{"rules":[{"arm":"moe","sleep_us":2000000}]}'


class Forgetful:
    """The controller forgets a job two seconds after its end."""

    NUM_NODES = 1
    CONF = {"MinJobAge": "2"}

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_a_study_whose_job_is_forgotten_is_collected(self):
        study = self.study(self.local)
        self.assertEqual(study.run("--detach").returncode, 0)
        submission = study.wait_submitted()
        study.wait_runner("complete")
        self.forget(submission)
        self.check_finished(study.run(), study, self.local)
        self.assertEqual(len(study.submissions()), 1)

    def test_a_job_that_somebody_cancelled_and_the_controller_forgot(self):
        study = self.study(self.local)
        self.assertEqual(study.run("--detach", fake=SLOW).returncode, 0)
        submission = study.wait_submitted()
        study.wait_done(2)
        self.lab.call("scancel", str(submission["job_id"]))
        self.forget(submission)
        told = study.run()
        self.assertEqual(told.returncode, 75, told.stderr)
        self.assertIn(self.KNOWN_OF_THE_END, told.stderr)
        self.assertEqual(len(study.submissions()), 1)
        self.check_finished(study.run(), study, self.local)
        self.assertEqual(len(study.submissions()), 2)

    def forget(self, submission):
        wait_for(lambda: not self.jobs(submission["name"]), 90, "the job to be forgotten")


class WithAccounting(Forgetful, SlurmCase):
    ACCOUNTING = True
    KNOWN_OF_THE_END = "its job was cancelled, not by `rematch cancel`"


class WithoutAccounting(Forgetful, SlurmCase):
    ACCOUNTING = False
    KNOWN_OF_THE_END = "its runner was told to stop"


if __name__ == "__main__":
    unittest.main()
