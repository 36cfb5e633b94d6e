"""A limit shorter than the study: Slurm warns the runner, it puts its own job back into the queue, and the study completes."""
import unittest

from slurm_case import SWEEP, LocalStudy, SlurmCase, wait_exit

# Slurm looks at limits every 30 s, and warns up to 30 s early: here 10 to 40 s after a start.
OPTIONS = ("--time", "1", "--signal", "B:USR1@20")
# Blocks of six seconds, more than fit before the warning.
SEVEN_BLOCKS = SWEEP.replace("blocks: 1", "blocks: 7").replace("name: fake", "name: limit")
SLOW = '{"rules":[{"slot":1,"sleep_us":1000000}]}'


class TimeLimit(SlurmCase):
    NUM_NODES = 1

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls, SEVEN_BLOCKS)

    def test_a_job_near_its_limit_requeues_itself_until_the_study_is_complete(self):
        study = self.study(self.local, *OPTIONS)
        with study.following(fake=SLOW) as controller:
            submission = study.wait_submitted()
            self.assertEqual(wait_exit(controller, study, 280), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(len(study.submissions()), 1)
        ends = [runner["end"] for runner in study.runners()]
        print([runner["message"] for runner in study.runners()])
        self.assertEqual(ends[-1], "complete")
        self.assertGreaterEqual(len(ends), 2)
        self.assertEqual(set(ends[:-1]), {"requeued"})
        row, = self.jobs(submission["name"])
        self.assertEqual((row["state"], int(row["restarts"])), ("COMPLETED", len(ends) - 1))


if __name__ == "__main__":
    unittest.main()
