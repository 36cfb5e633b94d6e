"""Slurm's controller is away while a study is followed, and when one is submitted."""
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_exit, wait_for
from watched_clients import WatchedClients

# Four trials of nine seconds: squeue is called after fifteen of them, and takes nine to fail.
LONG = '{"sleep_us":1500000}'


class ControllerAway(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_it_is_away_until_a_call_fails_while_a_study_is_followed(self):
        study = self.study(self.local)
        clients = WatchedClients(study.folder, self.lab.environment()["PATH"])
        with study.following(fake=LONG, PATH=clients.path) as controller:
            submission = study.wait_submitted()
            study.wait(lambda: self.lab.has_saved(submission["name"]), 15, "a controller that would know the job again")
            self.assertEqual(clients.failed(), [])
            self.lab.kill_controller()
            study.wait(lambda: "squeue" in clients.failed(), 60, "a call of squeue that failed")
            self.assertIsNone(controller.poll(), study.story())
            self.lab.start_controller()
            self.assertEqual(wait_exit(controller, study, 120), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(len(study.submissions()), 1)
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
