"""Slurm's controller is away while a study is followed or submitted, and dies right after a submission, so that it may not know the job."""
import time
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_exit, wait_for

AWAY_S = 3


class ControllerAway(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_it_is_away_for_three_seconds_while_a_study_is_followed(self):
        study = self.study(self.local)
        with study.following(fake='{"rules":[{"arm":"moe","sleep_us":1000000}]}') as controller:
            study.wait_submitted()
            study.wait_done(1)
            self.lab.kill_controller()
            back = time.monotonic() + AWAY_S
            wait_for(lambda: time.monotonic() > back, 2 * AWAY_S, "the time that it is away")
            self.lab.start_controller()
            self.assertEqual(wait_exit(controller, study, 120), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(len(study.submissions()), 1)

    def test_it_dies_right_after_the_submission(self):
        study = self.study(self.local)
        with study.following() as controller:
            study.wait_submitted()
            self.lab.kill_controller()
            self.lab.start_controller()
            self.assertEqual(wait_exit(controller, study, 180), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(study.files("superseded.json"), [], "no trial is measured twice")

    def test_it_is_away_when_a_study_is_submitted(self):
        study = self.study(self.local)
        self.lab.kill_controller()
        with study.following() as controller:
            wait_for(study.submissions, 20, "the intent")
            self.assertIsNone(study.submissions()[0]["job_id"])
            self.lab.start_controller()
            self.assertEqual(wait_exit(controller, study, 120), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(len(self.jobs(study.submissions()[0]["name"])), 1)


if __name__ == "__main__":
    unittest.main()
