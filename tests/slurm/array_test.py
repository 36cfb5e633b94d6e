"""An array of blocks: no more at a time than its throttle says, cancelled while some elements run and others wait."""
import unittest

from slurm_case import SWEEP, LocalStudy, SlurmCase

NUM_BLOCKS = 4
FOUR_BLOCKS = SWEEP.replace("blocks: 1", f"blocks: {NUM_BLOCKS}").replace("name: fake", "name: blocks")
# Six steps a trial, four trials a block: a block of a second or two.
SLOW = '{"sleep_us":60000}'


class Array(SlurmCase):
    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls, FOUR_BLOCKS)

    def array_study(self, *options):
        return self.study(self.local, "--shape", "array", *options)

    def element_states(self, submission):
        return [(row["element"], row["state"]) for row in self.jobs(submission["name"])]

    def test_no_more_blocks_run_at_a_time_than_the_throttle_says(self):
        study = self.array_study("--throttle", "2")
        running = []
        with study.following(fake=SLOW) as controller:
            submission = study.wait_submitted()

            def ended():
                running.append({row["element"] for row in self.jobs(submission["name"]) if row["state"] == "RUNNING"})
                return controller.poll() is not None

            study.wait(ended, 120, "the end of the study")
            self.assertEqual(controller.returncode, 0, study.story())
        self.assertLessEqual(max(map(len, running)), 2)
        self.assertEqual(len(set().union(*running)), NUM_BLOCKS, "elements that were seen running")
        self.assertEqual(len(study.submissions()), 1)
        self.assertEqual(len(self.jobs(submission["name"])), NUM_BLOCKS)
        self.check_result(study, self.local)
        self.assertEqual({runner["scope"]: runner["end"] for runner in study.runners()},
                         {f"block-{block}": "complete" for block in range(NUM_BLOCKS)})

    def test_elements_that_run_and_elements_that_wait_are_cancelled_and_stay_so(self):
        study = self.array_study("--throttle", "1")
        self.assertEqual(study.run("--detach", fake='{"rules":[{"block":1,"sleep_us":3000000}]}').returncode, 0)
        submission = study.wait_submitted()
        study.wait(lambda: ("1", "RUNNING") in self.element_states(submission), 60, "the second element")
        cancelled = study.rematch("cancel", study.study_id())
        self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
        ended = self.jobs(submission["name"])
        self.check_cancelled(ended)
        self.assertEqual(study.num_done(), 4, "the first block")
        done = set(study.files("done.json"))
        study.options = study.options[:-2]
        self.check_finished(study.run(), study, self.local)
        self.assertTrue(done <= set(study.files("done.json")), "what was done was done again")
        self.assertEqual(self.jobs(submission["name"]), ended)

    def check_cancelled(self, rows):
        """All but the first element; those that never started may share a row."""
        self.assertEqual([row["state"] for row in rows if row["element"] == "0"], ["COMPLETED"])
        self.assertEqual([row["state"] for row in rows if row["element"] == "1"], ["CANCELLED"])
        self.assertEqual({(row["state"], row["restarts"]) for row in rows if row["element"] != "0"}, {("CANCELLED", "0")})
        self.assertGreaterEqual(len(rows), 3)


class JobATrial(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_each_trial_is_a_job(self):
        study = self.study(self.local, "--shape", "trials", "--nodelist", "n1", "--exclusive")
        self.check_finished(study.run(), study, self.local)
        self.assertEqual(len(study.submissions()), len(self.local.files("done.json")))
        self.assertEqual(len(self.active_jobs()), 0)

    def test_jobs_on_several_nodes_are_not_compared(self):
        study = self.study(self.local, "--shape", "trials", "--exclusive")
        result = study.run(fake=SLOW)
        self.assertEqual(result.returncode, 7, result.stdout + result.stderr)
        self.assertIn("pin them with nodelist and exclusive", result.stderr)
        self.assertEqual({row["nodes"] for row in self.jobs()} & {"n1", "n2"}, {"n1", "n2"})
        self.assertEqual(study.num_done(), len(self.local.files("done.json")))


if __name__ == "__main__":
    unittest.main()
