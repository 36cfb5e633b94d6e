"""`rematch logs`: which logs it shows of which attempt, in what order, and how it follows one that is being written."""
import json
import shutil
import signal
import time
import unittest

from fake_study import FakeStudy, time_allowance, wait_for

CRASH = json.dumps({"rules": [{"arm": "moe", "rank": 1, "do": "exit", "code": 9, "stage": "first_backward", "step": 0}]})


def titles(text):
    return [line.strip("=><  ") for line in text.splitlines() if line.startswith("==>")]


class Logs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = FakeStudy(cls)
        assert cls.study.run(fake=CRASH).returncode == 4
        cls.folder = next((cls.study.root / "studies").iterdir())

    def logs(self, *arguments, code=0):
        ended = self.study.rematch("logs", *arguments)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended

    def attempt_of(self, arm):
        return next(path.parent for path in self.study.files("trial.json") if json.loads(path.read_text())["arm"] == arm)

    def test_the_rank_that_failed_first_comes_first_and_its_end_is_said(self):
        shown = self.logs("moe")
        self.assertEqual(titles(shown.stdout)[0], "rank 1: exit code 9, failed first")
        self.assertEqual(len(titles(shown.stdout)), 2)
        self.assertIn("arm moe, block 0", shown.stderr)
        self.assertIn("ended: rank_failed, rank 1 first: exit code 9", shown.stderr)

    def test_study_arm_and_trial_are_found_by_name_by_id_and_by_the_beginning_of_an_id(self):
        newest = self.logs().stdout
        for subject in ("fake", "fak", self.folder.name[-16:]):
            self.assertEqual(self.logs(subject).stdout, newest)
        trial = self.attempt_of("moe_act").parent.name
        self.assertIn(trial, self.logs(trial[:9]).stderr)
        self.assertIn(trial, self.logs("moe_act", "--study", "fake").stderr)

    def test_lines_and_ranks_can_be_chosen(self):
        log = self.attempt_of("moe_act") / "rank-00001.log"
        before = log.read_bytes()
        log.write_bytes(b"one\ntwo\nthree\x00\x07\n")
        try:
            self.assertEqual(self.logs("moe_act", "--rank", "1", "-n", "2").stdout, "==> rank 1: exit code 0 <==\ntwo\nthree??\n")
        finally:
            log.write_bytes(before)

    def test_jobs_of_every_submission_are_shown_in_order_with_the_part_of_each_element(self):
        folder = self.folder / "submissions"
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)
        submission = {"schema": "rematch/submission/1", "study_id": self.folder.name[-16:], "command": [], "submit_unix_ns": 1, "cancel_unix_ns": None,
                      "close_unix_ns": 1, "message": ""}
        blocks = [{"block": block, "trial_id": None} for block in range(3)]
        for document in ({**submission, "name": "late", "shape": "array", "tasks": blocks, "intent_unix_ns": 2, "job_id": 20},
                         {**submission, "name": "early", "shape": "allocation", "tasks": [{"block": None, "trial_id": None}], "intent_unix_ns": 1, "job_id": 17}):
            (folder / f"{document['name']}.json").write_text(json.dumps(document))
        self.assertIn("no job has begun yet", self.logs("--job").stderr)
        for name, text in (("early.out", "1\n2\n"), ("late-0.out", "3\n"), ("late-2.out", "4\n")):
            (folder / name).write_text(text)
        followed = self.logs("--job", "-n", "1", "-f")
        self.assertEqual(followed.stdout, "==> job 17 <==\n2\n\n==> job 20_0, block-0 <==\n3\n\n==> job 20_2, block-2 <==\n4\n")
        self.assertIn("every job has ended", followed.stderr)

    def test_what_is_not_there_is_named_with_what_is(self):
        self.assertIn("no study, arm or trial 'nothing' in the studies fake-", self.logs("nothing", code=2).stderr)
        self.assertIn("no rank 7; there are 2", self.logs("moe", "--rank", "7", code=2).stderr)
        self.assertIn("no study 'other'; there are: fake-", self.logs("moe", "--study", "other", code=2).stderr)
        self.assertIn("has submitted no job", self.logs("--job", code=2).stderr)

    def test_of_an_empty_workspace_there_is_none(self):
        self.assertIn("no study in", FakeStudy(self).rematch("logs").stderr)


class Following(unittest.TestCase):
    def follow(self, study, *arguments):
        return study.started("logs", "-f", *arguments)

    def shown(self, study):
        return (study.folder / "controller.log").read_text()

    def test_it_ends_by_itself_when_the_attempt_has_ended_and_has_shown_all(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        attempt = study.files("launch.json")[-1].parent
        launch = (attempt / "launch.json").rename(attempt / "launch.hidden")
        trial = attempt.parent.name
        with self.follow(study, trial) as process:
            wait_for(lambda: "==> rank 1 <==" in self.shown(study), 10, "the first lines")
            with (attempt / "rank-00000.log").open("a") as log:
                log.write("later\nlast without an end")
            launch.rename(attempt / "launch.json")
            self.assertEqual(process.wait(timeout=time_allowance(10)), 0)
        self.assertIn("==> rank 0 <==\nlater\nlast without an end\nended: all_exited", self.shown(study))

    def test_ctrl_c_ends_it_with_0(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        attempt = study.files("launch.json")[-1].parent
        (attempt / "launch.json").unlink()
        with self.follow(study, attempt.parent.name) as process:
            wait_for(lambda: "==> rank 1 <==" in self.shown(study), 10, "the first lines")
            time.sleep(0.05)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=time_allowance(10)), 0)


if __name__ == "__main__":
    unittest.main()
