"""Jobs that the controller has forgotten, on a cluster with accounting and on one without: how they ended is known by sacct, or by the
study's files alone."""
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_for


class Forgetful:
    """The controller forgets a job two seconds after its end."""

    NUM_NODES = 1
    CONF = {"MinJobAge": "2"}

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def submitted(self, study):
        self.assertEqual(study.run("--detach").returncode, 0)
        return study.wait_submitted()

    def test_a_study_goes_on_from_a_job_that_is_forgotten(self):
        finished, cancelled = self.study(self.local), self.study(self.local)
        self.submitted(finished)
        finished.wait_runner("complete")
        blocker = self.occupy("n1")
        waiting = self.submitted(cancelled)
        self.wait_state(waiting["job_id"], {"PENDING"}, 10)
        self.lab.call("scancel", str(waiting["job_id"]))
        self.lab.call("scancel", blocker)
        wait_for(lambda: not self.jobs(), 90, "the jobs to be forgotten")

        self.check_finished(finished.run(), finished, self.local)
        self.assertEqual(len(finished.submissions()), 1)

        again = cancelled.run()
        self.check_finished(again, cancelled, self.local)
        self.assertIn(self.KNOWN_OF_THE_END, again.stderr)
        self.assertEqual(len(cancelled.submissions()), 2)


class WithAccounting(Forgetful, SlurmCase):
    ACCOUNTING = True
    KNOWN_OF_THE_END = "it was cancelled before"


class WithoutAccounting(Forgetful, SlurmCase):
    ACCOUNTING = False
    KNOWN_OF_THE_END = "Slurm does not know its job any more"


if __name__ == "__main__":
    unittest.main()
