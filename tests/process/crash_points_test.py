"""kill -9 of the controller: at each write boundary that a run passes, and at seeded moments between them; each is run again to the end. The
content is that of an undisturbed run outside of times and the attempt table, nothing is lost, nothing is twice, no process is left.

REMATCH_CRASH_POINTS=N limits both kinds together to a seeded choice of N; without it all are tried."""
import concurrent.futures
import os
import random
import re
import shutil
import time
import unittest

from fake_study import NUM_TRIALS, FakeStudy, time_allowance, wait_for

SEED = 20240611
NUM_POINTS = 120  # boundaries first, the rest moments
NUM_AT_A_TIME = 2
MOST_BOUNDARIES = 400


class CrashPoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.undisturbed = FakeStudy(cls)
        begin = time.monotonic()
        first = cls.undisturbed.run()
        cls.run_s = time.monotonic() - begin
        assert first.returncode == 0, first.stderr
        cls.content = cls.undisturbed.content()

    def study(self):
        """A workspace of its own with the same sweep file, so that the paths in the database agree."""
        study = FakeStudy(self)
        study.sweep = self.undisturbed.sweep
        return study

    def die_at(self, study, boundary):
        """The boundary's name, or None when the run passes fewer and ends well."""
        ended = study.run(REMATCH_CRASH_AT=str(boundary))
        if ended.returncode == 0:
            return None
        self.assertEqual(ended.returncode, -9, ended.stderr)
        return re.search(r"killed at write boundary \d+: (.*)", ended.stderr)[1]

    def die_after(self, study, seconds):
        with study.started() as controller:
            time.sleep(seconds)
            controller.kill()
        return f"after {1000 * seconds:.1f} ms"

    def check_goes_on(self, study, where):
        done = set(study.files("done.json"))
        again = study.run()
        self.assertEqual(again.returncode, 0, f"{where}: {again.stderr}")
        self.assertTrue(done <= set(study.files("done.json")), f"{where}: what was done is done no more")
        self.assertEqual(len(study.final_attempts()), NUM_TRIALS, where)
        self.assertLessEqual(len(study.files("trial.json")), NUM_TRIALS + 1, f"{where}: more than the trial in flight was run again")
        self.assertEqual(study.difference(self.content), {}, where)
        self.assertEqual(study.rows("PRAGMA integrity_check"), [("ok",)], where)
        self.assertEqual(study.marked_processes(), [], f"{where}: left running")
        shutil.rmtree(study.folder)

    def try_point(self, point):
        study = self.study()
        kind, value = point
        where = self.die_at(study, value) if kind == "boundary" else self.die_after(study, value)
        if where is not None:
            self.check_goes_on(study, f"{kind} {value}: {where}")
        return where

    def num_boundaries(self):
        """By bisection: a run that passes fewer ends well."""
        low, high = 1, MOST_BOUNDARIES
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if self.die_at(self.study(), middle) else (low, middle)
        return low

    def points(self):
        rng = random.Random(SEED)
        points = [("boundary", number) for number in range(1, self.num_boundaries() + 1)]
        points += [("moment", rng.uniform(0, 1.2 * self.run_s)) for _ in range(NUM_POINTS - len(points))]
        limit = int(os.environ.get("REMATCH_CRASH_POINTS", NUM_POINTS))
        if limit < len(points):
            print(f"ONLY {limit} OF {len(points)} POINTS: REMATCH_CRASH_POINTS is set")
            points = rng.sample(points, limit)
        return points

    def test_a_run_goes_on_after_a_death_at_any_point(self):
        points = self.points()
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(NUM_AT_A_TIME) as pool:
            names = list(pool.map(self.try_point, points))
        kinds = {kind: sum(point[0] == kind for point in points) for kind in ("boundary", "moment")}
        print(f"{kinds} in {time.monotonic() - begin:.1f} s")
        if "REMATCH_CRASH_POINTS" in os.environ:
            return
        self.assertGreater(kinds["boundary"], 80)
        self.assertGreater(kinds["moment"], 10)
        for what in ("lock: written", "sweep.yaml: renamed", "study.json: its folder synced", "attempt: renamed", "trial.json: renamed", "study.json: synced",
                     "supervisor: about to start", "supervisor: started", "database: rows written", "database: transaction committed",
                     "attempt-1: file system synced", "done.json: opened", "done.json: renamed"):
            self.assertIn(what, names)

    def test_a_study_that_dies_again_and_again_comes_to_its_end(self):
        study = self.study()
        rng = random.Random(SEED + 1)
        for _ in range(8):
            self.die_at(study, rng.randint(2, 40))
        again = study.run()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(study.difference(self.content), {})
        self.assertEqual(study.marked_processes(), [])

    def test_an_ingest_that_dies_changes_nothing(self):
        study = self.study()
        self.assertEqual(study.run().returncode, 0)
        deaths = []
        for boundary in range(1, MOST_BOUNDARIES):
            ended = study.rematch("ingest", REMATCH_CRASH_AT=str(boundary))
            self.assertEqual(study.difference(self.content), {}, f"boundary {boundary}")
            if ended.returncode == 0:
                break
            deaths.append(re.search(r"killed at write boundary \d+: (.*)", ended.stderr)[1])
        self.assertIn("database: rows written", deaths)

    def test_supervisor_and_ranks_end_within_their_grace_and_say_so(self):
        study = self.study()
        with study.started(fake='{"rules":[{"do":"hang_hard","stage":"steady"},{"rank":1,"do":"daemon"}]}') as controller:
            wait_for(lambda: study.files("daemon-1.pid") and len(study.files("rank-*.jsonl")) == 2, 20, "two ranks and a grandchild")
            self.assertGreaterEqual(len(study.marked_processes()), 3)
            controller.kill()
            controller.wait(timeout=time_allowance(10))
            begin = time.monotonic()
            wait_for(lambda: not study.marked_processes(), 15, "the end of every process of the trial")
            self.assertLess(time.monotonic() - begin, time_allowance(10), "the grace is 2 s; the rest is for a busy machine")
        launch, = study.files("launch.json")
        self.assertIn('"end": "controller_lost"', launch.read_text())

    def test_a_killed_supervisor_takes_its_ranks_and_their_grandchildren_along(self):
        study = self.study()
        fake = '{"rules":[{"arm":"moe","rank":1,"do":"daemon"},{"arm":"moe","do":"hang_hard","stage":"steady"}]}'
        with study.started(fake=fake) as controller:
            wait_for(lambda: study.files("daemon-1.pid"), 20, "a rank with a grandchild that left its session")
            supervisor, = (pid for pid, words in study.processes().items() if " supervise " in words)
            os.kill(supervisor, 9)
            self.assertEqual(controller.wait(timeout=time_allowance(20)), 8, study.log())
            self.assertEqual(study.marked_processes(), [])
        self.assertIn("killed by signal 9 and left no launch.json", study.log())
        self.assertEqual(study.run().returncode, 0)
        self.assertEqual(study.difference(self.content), {})

    def test_what_outlives_supervisor_and_controller_is_ended_by_the_next_run(self):
        study = self.study()
        with study.started(fake='{"rules":[{"rank":1,"do":"daemon"},{"do":"hang","stage":"steady"}]}') as controller:
            wait_for(lambda: study.files("daemon-1.pid"), 20, "a grandchild that left its session")
            supervisor, = (pid for pid, words in study.processes().items() if " supervise " in words)
            os.kill(controller.pid, 19)  # so that it does not see the supervisor's end
            os.kill(supervisor, 9)
            controller.kill()
            controller.wait(timeout=time_allowance(10))
        left = wait_for(lambda: study.marked_processes(), 5, "the grandchild")
        self.assertIn(f"pid {left[-1]} (", study.rematch("doctor").stdout)
        self.assertEqual(study.run().returncode, 0)
        self.assertEqual(study.marked_processes(), [])


if __name__ == "__main__":
    unittest.main()
