"""Slurm's controller is away while one study is followed and another submitted."""
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_exit
from watched_clients import WatchedClients

# Four trials of nine seconds: squeue is called after fifteen of them, and takes nine to fail.
LONG = '{"sleep_us":1500000}'


class ControllerAway(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_it_is_away_until_calls_fail_while_one_study_is_followed_and_another_submitted(self):
        followed, submitted = self.study(self.local), self.study(self.local)
        clients = WatchedClients(followed.folder, self.lab.environment()["PATH"])
        with followed.following(fake=LONG, PATH=clients.path) as first:
            name = followed.wait_submitted()["name"]
            followed.wait(lambda: self.lab.has_saved(name), 15, "a controller that would know the job again")
            self.assertEqual(clients.failed(), [])
            self.lab.kill_controller()
            with submitted.following() as second:
                followed.wait(lambda: "squeue" in clients.failed(), 60, "a call of squeue that failed")
                self.assertIsNone(first.poll(), followed.story())
                self.assertIsNone(submitted.submissions()[0]["job_id"])
                self.lab.start_controller()
                codes = wait_exit(first, followed, 120), wait_exit(second, submitted, 120)
        for study, code in zip((followed, submitted), codes):
            self.assertEqual(code, 0, study.story())
            self.check_once(study)

    def check_once(self, study):
        self.check_result(study, self.local)
        submission, = study.submissions()
        self.assertEqual(len(self.jobs(submission["name"])), 1)
        self.assertEqual(study.files("superseded.json"), [], "no trial is measured twice")


if __name__ == "__main__":
    unittest.main()
