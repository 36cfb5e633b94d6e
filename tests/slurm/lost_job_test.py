"""Slurm's controller dies right after a submission, does not know the job any more, and gives its id to somebody else's job."""
import os
import unittest

from slurm_case import ENDED, LocalStudy, SlurmCase, wait_exit

SLOW = '{"rules":[{"arm":"moe","sleep_us":1000000}]}'


class LostJob(SlurmCase):
    """The lab is new, so that the first job after the crash gets the lost one's id."""

    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def occupy_with_the_id(self, lost):
        """Somebody else's job, on the other node."""
        other = self.lab.call("sbatch", "--parsable", "--nodelist=n2", "--output=/dev/null", "--wrap=sleep 600")
        self.assertEqual(other, str(lost["job_id"]))
        return other

    def check_lost(self, study, lost):
        """The controller does not know the job, and its script runs."""
        runner, = study.runners()
        self.assertEqual(self.jobs(lost["name"]), [])
        self.assertTrue(os.path.exists(f"/proc/{runner['pid']}"), study.story())

    def test_its_block_is_done_again_once_and_the_job_that_has_its_id_is_left_alone(self):
        study = self.study(self.local, "--nodelist", "n1")
        with study.following(fake=SLOW) as controller:
            lost = study.wait_submitted()
            study.wait_done(3)
            study.wait_in_flight()
            self.lab.lose_jobs()
            self.check_lost(study, lost)
            other = self.occupy_with_the_id(lost)
            self.assertEqual(wait_exit(controller, study, 150), 0, study.story())
        self.check_done_again(study, lost)
        self.wait_state(other, {"RUNNING"}, 1)
        self.lab.call("scancel", other)
        self.wait_state(other, ENDED, 20)

    def check_done_again(self, study, lost):
        self.check_result(study, self.local)
        self.assertEqual([runner["end"] for runner in study.runners()], [None, "complete"])
        again, = (submission for submission in study.submissions() if submission["name"] != lost["name"])
        self.assertEqual([row["state"] for row in self.jobs(again["name"])], ["COMPLETED"])
        self.assertEqual(self.jobs(lost["name"]), [])
        self.assertEqual(len(study.files("superseded.json")), 3, "what the lost job had done")


if __name__ == "__main__":
    unittest.main()
