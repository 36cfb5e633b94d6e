"""Jobs of a study that are cancelled, by `rematch cancel` and by somebody's scancel: they do not come back, another run does the rest."""
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_exit

SLOW = '{"rules":[{"arm":"moe","sleep_us":3000000}]}'
# What a user, or an element of an array that rematch is called in, may have set.
SET = {"SBATCH_WAIT": "1", "SBATCH_ARRAY_INX": "0-1", "SQUEUE_PARTITION": "nowhere", "SCANCEL_PARTITION": "nowhere", "SLURM_ARRAY_JOB_ID": "7",
       "SLURM_ARRAY_TASK_ID": "0", "SLURM_RESTART_COUNT": "5"}


class Cancel(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_a_job_that_is_cancelled_while_it_waits_does_not_come_back_whatever_variables_are_set(self):
        blocker = self.occupy("n1")
        study = self.study(self.local, "--nodelist", "n1")
        self.assertEqual(study.run("--detach", **SET).returncode, 0)
        submission = study.wait_submitted()
        cancelled = study.rematch("cancel", study.study_id(), **SET)
        self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
        self.assertEqual([row["state"] for row in self.jobs(submission["name"])], ["CANCELLED"])
        self.lab.call("scancel", blocker)
        self.check_finished(study.run(**SET), study, self.local)
        runner, = study.runners()
        self.assertEqual((runner["allocation"]["array_job_id"], runner["allocation"]["restart_count"]), (None, 0))
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
