"""Jobs of a study that are cancelled, by `rematch cancel` and by somebody's scancel: they do not come back, another run does the rest."""
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_exit

SLOW = '{"rules":[{"arm":"moe","sleep_us":3000000}]}'


class Cancel(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_a_job_that_is_cancelled_while_it_waits_does_not_come_back(self):
        blocker = self.occupy("n1")
        study = self.study(self.local, "--nodelist", "n1")
        self.assertEqual(study.run("--detach").returncode, 0)
        submission = study.wait_submitted()
        cancelled = study.rematch("cancel", study.study_id())
        self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
        self.assertEqual([row["state"] for row in self.jobs(submission["name"])], ["CANCELLED"])
        self.lab.call("scancel", blocker)
        self.check_finished(study.run(), study, self.local)
        self.assertEqual([row["state"] for row in self.jobs(submission["name"])], ["CANCELLED"])
        self.assertEqual(len(study.submissions()), 2)

    def test_a_job_that_is_cancelled_while_it_runs_does_not_come_back_and_another_run_does_the_rest(self):
        study = self.study(self.local)
        self.assertEqual(study.run("--detach", fake=SLOW).returncode, 0)
        submission = study.wait_submitted()
        study.wait_done(3)
        study.wait_in_flight()
        cancelled = study.rematch("cancel", study.study_id())
        self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
        row, = self.jobs(submission["name"])
        self.assertEqual((row["state"], row["restarts"]), ("CANCELLED", "0"))
        self.assertEqual([runner["end"] for runner in study.runners()], ["interrupted"], study.story())
        self.assertEqual(study.num_done(), 3)
        self.check_finished(study.run(), study, self.local)
        row, = self.jobs(submission["name"])
        self.assertEqual((row["state"], row["restarts"]), ("CANCELLED", "0"))

    def test_somebody_elses_scancel_is_reported_and_another_run_submits_anew(self):
        study = self.study(self.local)
        with study.following(fake=SLOW) as controller:
            submission = study.wait_submitted()
            study.wait_done(3)
            study.wait_in_flight()
            self.lab.call("scancel", str(submission["job_id"]))
            self.assertEqual(wait_exit(controller, study, 60), 75, study.story())
        self.assertIn("cancel", study.log().lower())
        self.assertEqual(len(study.submissions()), 1)
        self.check_finished(study.run(), study, self.local)
        self.assertEqual(len(study.submissions()), 2)


if __name__ == "__main__":
    unittest.main()
