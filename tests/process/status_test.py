"""`rematch status` of studies that have Slurm's jobs: what it makes of the study's files and of one answer of squeue, which a script gives."""
import contextlib
import json
import os
import signal
import sqlite3
import time
import unittest

from fake_study import NUM_TRIALS, FakeStudy, time_allowance, wait_for

NAME = "fake-job-1"
SQUEUE = """#!/bin/sh
echo "$@" >>"{folder}/calls"
[ -f "{folder}/queue" ] || {{ echo "squeue: error: Unable to contact slurm controller" >&2; exit 1; }}
cat "{folder}/queue"
"""


class Status(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = FakeStudy(cls)
        assert cls.study.run().returncode == 0
        cls.folder = next((cls.study.root / "studies").iterdir())
        script = cls.study.folder / "bin" / "squeue"
        script.parent.mkdir()
        script.write_text(SQUEUE.format(folder=cls.study.folder))
        script.chmod(0o755)
        for name in ("submissions", "runners"):
            (cls.folder / name).mkdir()

    def setUp(self):
        for path in (*(self.folder / "submissions").iterdir(), *(self.folder / "runners").iterdir(), self.calls_path(), self.study.folder / "queue"):
            path.unlink(missing_ok=True)
        self.addCleanup(self.finish_all)

    def finish_all(self):
        for path in self.study.files("done.hidden"):
            path.rename(path.with_name("done.json"))
        for path in self.study.files("launch.hidden"):
            path.rename(path.with_name("launch.json"))

    def unfinish(self, running=False):
        attempt = self.study.files("done.json")[-1].parent
        (attempt / "done.json").rename(attempt / "done.hidden")
        if running:
            (attempt / "launch.json").rename(attempt / "launch.hidden")

    def submit(self, tasks=({"block": None, "trial_id": None},), shape="allocation", **fields):
        document = {"schema": "rematch/submission/1", "name": NAME, "study_id": self.folder.name[-16:], "shape": shape, "command": ["sbatch"],
                    "tasks": list(tasks), "intent_unix_ns": time.time_ns() - 10**9, "job_id": 17, "submit_unix_ns": time.time_ns(),
                    "cancel_unix_ns": None, "close_unix_ns": None, "message": "", **fields}
        (self.folder / "submissions" / f"{NAME}.json").write_text(json.dumps(document))

    def claim(self, age_s=1, end=None, **fields):
        now = time.time_ns()
        document = {"schema": "rematch/runner/1", "scope": "study", "epoch": 1, "runner_id": "0123456789abcdef", "submission": NAME, "host": "c1",
                    "pid": 1, "allocation": None, "nodes": ["n1"], "start_unix_ns": now, "heartbeat": 3, "heartbeat_unix_ns": now - age_s * 10**9,
                    "end": end, "end_unix_ns": now if end else None, "message": "", **fields}
        (self.folder / "runners" / "study-0001.json").write_text(json.dumps(document))

    def queue(self, *rows):
        """Of each job: state, reason, and of an array the index."""
        end = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 600))
        old = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() - 600))
        lines = []
        for index, (state, reason) in enumerate(rows):
            array = ("17", str(index)) if len(rows) > 1 else ("17", "N/A")
            nodes = "n1" if state == "RUNNING" else ""
            lines.append("|".join(("17", *array, state, reason, "0", "1", nodes, "N/A", "N/A", end if state == "RUNNING" else old, NAME, "")))
        (self.study.folder / "queue").write_text("\n".join(lines) + "\n")

    def calls_path(self):
        return self.study.folder / "calls"

    def num_calls(self):
        return len(self.calls_path().read_text().splitlines()) if self.calls_path().exists() else 0

    def status(self, *arguments):
        ended = self.study.rematch("status", *arguments, PATH=f"{self.study.folder / 'bin'}:{os.environ['PATH']}")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def document(self):
        return json.loads(self.status("--json"))["studies"][0]

    def test_slurm_is_asked_once_and_only_while_a_submission_is_open(self):
        self.submit(close_unix_ns=time.time_ns())
        self.assertIn("complete", self.status())
        self.assertEqual(self.num_calls(), 0)
        self.submit()
        self.queue(("PENDING", "Priority"))
        self.status()
        self.assertEqual(self.num_calls(), 1)

    def test_a_running_job_shows_its_node_its_time_and_what_its_runner_does(self):
        self.submit()
        self.unfinish(running=True)
        self.claim()
        self.queue(("RUNNING", "None"))
        self.assertRegex(self.status(), r"job 17: RUNNING on n1, (9 min 5\d|10 min 0) s left, restarts: 1; \S+, block 0, slot \d, step 6 of 6\n")
        study = self.document()
        self.assertEqual((study["num_done"], study["num_planned"], study["state"]), (NUM_TRIALS - 1, NUM_TRIALS, "in Slurm: running"))
        (job,) = study["cluster"]["jobs"]
        self.assertEqual((job["state"], job["nodes"], job["restart_count"], job["decision"]), ("RUNNING", "n1", 1, "runner-lives"))
        self.assertTrue(590 <= job["seconds_left"] <= 600, job)
        self.assertEqual((job["runner"]["host"], job["trial"]["num_steps"]), ("c1", 6))

    def test_what_waits_or_is_held_says_why(self):
        self.submit()
        self.unfinish()
        self.queue(("PENDING", "Priority"))
        self.assertIn("in Slurm: waiting (Priority)", self.status())
        self.queue(("PENDING", "JobHeldUser"))
        self.assertRegex(self.status(), r"in Slurm: held\n.*scontrol release")
        self.queue(("PENDING", "launch failed requeued held"))
        self.assertRegex(self.status(), r"in Slurm: held; run again\n.*cancels it and submits it anew")

    def test_a_runner_that_stands_still_without_a_job_is_lost_and_one_that_lives_is_not(self):
        self.submit()
        self.unfinish(running=True)
        (self.study.folder / "queue").write_text("")
        self.claim(age_s=75)
        self.assertRegex(self.status(), r"in Slurm: lost; run again\n  job 17: gone; its runner was last heard of 7\d s ago; lost: ")
        self.assertIsNone(self.document()["cluster"]["jobs"][0]["trial"], "nothing runs any more")
        self.claim(age_s=5)
        self.assertIn("in Slurm: running", self.status())

    def test_what_is_done_by_its_files_is_to_be_collected_whatever_slurm_says(self):
        self.submit()
        self.claim(end="complete")
        self.queue(("FAILED", "NonZeroExitCode"))
        self.assertIn("in Slurm: done; run again to collect", self.status())

    def test_verbs_that_read_the_database_say_what_it_lacks(self):
        self.submit()
        verbs = (["show", "moe"], ["report"], ["diagnose"], ["query", "failures"])
        self.assertEqual([self.study.rematch(*verb).stderr for verb in verbs], [""] * len(verbs))
        with contextlib.closing(sqlite3.connect(self.study.root / "rematch.db")) as database, database:
            database.execute("DELETE FROM attempt WHERE trial_id IN (SELECT trial_id FROM attempt LIMIT 2)")
        for verb in verbs:
            self.assertIn(f"2 trials of fake ({self.folder.name[-16:]}) are done and not collected; `rematch run` or",
                          self.study.rematch(*verb).stderr)
        self.assertEqual(self.study.rematch("ingest").returncode, 0)
        self.assertEqual(self.study.rematch("report").stderr, "")

    def test_slurm_that_does_not_answer_leaves_the_files_story(self):
        self.submit()
        self.unfinish(running=True)
        self.claim(age_s=300)
        self.assertRegex(self.status(), r"in Slurm: unknown\n  Slurm does not answer: .*Unable to contact slurm controller")
        study = self.document()
        self.assertEqual((study["num_done"], study["cluster"]["jobs"][0]["state"]), (NUM_TRIALS - 1, "unknown"))
        self.assertIn("Unable to contact", study["cluster"]["slurm_problem"])

    def test_elements_of_an_array_that_wait_or_are_done_share_a_line(self):
        left, done = ({"block": None, "trial_id": path.parent.parent.name} for path in (self.study.files("done.json")[-1], self.study.files("done.json")[0]))
        self.unfinish()
        self.submit(shape="array", tasks=[left] * 38 + [done] * 2)
        self.queue(*[("RUNNING", "None")] * 2, *[("PENDING", "JobArrayTaskLimit")] * 36, *[("COMPLETED", "None")] * 2)
        shown = self.status()
        self.assertIn("in Slurm: 2 done, 2 running, 36 waiting (JobArrayTaskLimit)\n", shown)
        self.assertRegex(shown, r"job 17_1, trial-\w+: RUNNING on n1.*\n  jobs that wait: 36\n  jobs whose part is done: 2\n$")
        self.assertEqual(self.num_calls(), 1)
        self.assertEqual(len(self.document()["cluster"]["jobs"]), 40)

    def test_it_watches_until_ctrl_c_and_leaves_the_database_alone(self):
        database = self.study.root / "rematch.db"
        before = (database.read_bytes(), sorted(path.name for path in self.study.root.iterdir()))
        with self.study.started("status", "--watch", "1") as process:
            wait_for(lambda: (self.study.folder / "controller.log").read_text().count("complete") == 2, 10, "a second table")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=time_allowance(10)), 0)
        self.assertEqual((database.read_bytes(), sorted(path.name for path in self.study.root.iterdir())), before)


if __name__ == "__main__":
    unittest.main()
