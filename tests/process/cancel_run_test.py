"""`rematch cancel` of a study that runs on this machine, and what `run` refuses beside jobs of its study. Without Slurm."""
import json
import time
import unittest

from fake_study import FakeStudy, time_allowance, wait_for

SLOW = '{"sleep_us":300000}'


class Cancel(unittest.TestCase):
    def test_a_run_on_this_host_is_interrupted_and_another_run_goes_on(self):
        study = FakeStudy(self)
        with study.started(fake=SLOW) as controller:
            wait_for(lambda: study.files("trial.json"), 20, "a trial that runs")
            cancelled = study.rematch("cancel", "fake")
            self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
            self.assertIn(f"interrupted process {controller.pid}", cancelled.stderr)
            self.assertEqual(controller.wait(timeout=time_allowance(20)), 75, study.log())
        self.assertEqual(study.marked_processes(), [])
        again = study.rematch("cancel", "fake")
        self.assertEqual((again.returncode, "nothing to cancel" in again.stderr), (0, True), again.stderr)
        self.assertEqual(study.run().returncode, 0)

    def test_now_does_not_wait_for_ranks_that_do_not_listen(self):
        study = FakeStudy(self)
        with study.started(fake='{"rules":[{"do":"hang_hard"}]}') as controller:
            wait_for(lambda: study.files("rank-00000.log"), 20, "a trial that runs")
            begin = time.monotonic()
            cancelled = study.rematch("cancel", "fake", "--now")
            self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
            self.assertLess(time.monotonic() - begin, time_allowance(10))
            self.assertEqual(controller.wait(timeout=time_allowance(20)), 75, study.log())
        self.assertEqual(study.marked_processes(), [])

    def test_a_study_that_is_not_there_and_options_that_do_not_fit(self):
        study = FakeStudy(self)
        none = study.rematch("cancel", "fake")
        self.assertEqual((none.returncode, "found none" in none.stderr), (2, True), none.stderr)
        both = study.rematch("cancel", "fake", "--now", "--after-trial")
        self.assertEqual(both.returncode, 2, both.stderr)
        detached = study.run("--detach")
        self.assertEqual((detached.returncode, "--launcher slurm" in detached.stderr), (2, True), detached.stderr)

    def test_a_local_run_beside_open_jobs_is_refused(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        study.unfinish()
        folder = next((study.root / "studies").iterdir())
        name = folder.name + "-00c0ffee"
        document = {"schema": "rematch/submission/1", "name": name, "study_id": folder.name[-16:], "shape": "allocation", "command": ["sbatch"],
                    "tasks": [{"block": None, "trial_id": None}], "intent_unix_ns": 1, "job_id": 17, "submit_unix_ns": 2, "cancel_unix_ns": None,
                    "close_unix_ns": None, "message": ""}
        (folder / "submissions").mkdir()
        (folder / "submissions" / f"{name}.json").write_text(json.dumps(document))
        refused = study.run()
        self.assertEqual(refused.returncode, 8, refused.stderr)
        self.assertIn(name, refused.stderr)
        self.assertIn("rematch cancel fake", refused.stderr)
        (folder / "submissions" / f"{name}.json").write_text("")
        for said in (study.run(), study.rematch("cancel", "fake")):
            self.assertEqual((said.returncode, f"{name}.json" in said.stderr, "internal" in said.stderr), (8, True, False), said.stderr)
        (folder / "submissions" / f"{name}.json").write_text(json.dumps({**document, "close_unix_ns": 3}))
        self.assertEqual(study.run().returncode, 0)


if __name__ == "__main__":
    unittest.main()
