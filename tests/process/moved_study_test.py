"""A study whose folders moved to another place, and one whose trainer became another build on the way."""
import json
import unittest

from fake_study import BIN, NUM_TRIALS, FakeStudy


class MovedStudy(unittest.TestCase):
    def test_ingest_elsewhere_gives_equal_rows_and_an_equal_report(self):
        fake = '{"rules":[{"arm":"moe","rank":1,"do":"torn","code":1,"stage":"steady"},{"arm":"moe_act","do":"oom","stage":"first_backward","step":0}]}'
        here, there = FakeStudy(self), FakeStudy(self)
        self.assertEqual(here.run(fake=fake).returncode, 4)
        content, attempts, report = here.content(), here.rows("SELECT * FROM attempt"), here.report("md")
        for name in ("rematch.db", "rematch.db-wal", "rematch.db-shm", "lock"):
            (here.root / name).unlink(missing_ok=True)
        there.root.mkdir()
        (here.root / "studies").rename(there.root / "studies")
        ingested = there.rematch("ingest")
        self.assertEqual(ingested.returncode, 0, ingested.stderr)
        self.assertEqual(there.difference(content), {})
        self.assertEqual(there.rows("SELECT * FROM attempt"), attempts)
        self.assertEqual(there.report("md"), report.replace(f"--workspace {here.root}", f"--workspace {there.root}"))
        self.assertIn("torn", there.rematch("show", "moe").stdout)

    def test_ingest_there_says_of_a_study_that_cannot_be_read_which_it_is_and_takes_the_others(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        broken = study.root / "studies" / "broken-0000000000000000"
        broken.mkdir()
        (broken / "study.json").write_text("{")
        ingested = study.rematch("ingest")
        self.assertEqual(ingested.returncode, 8)
        self.assertIn("broken-0000000000000000", ingested.stderr)
        self.assertEqual(study.rows("SELECT name FROM study"), [("fake",)])


class ClockSteps(unittest.TestCase):
    def test_a_wall_clock_that_went_back_gives_no_negative_number(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        verbs = (("report", "-f", "csv"), ("show", "[]"), ("status",))
        before = [study.rematch(*verb).stdout for verb in verbs]
        for path in study.files("launch.json"):
            launch = json.loads(path.read_text())
            launch["end_unix_ns"] = launch["start_unix_ns"] - 3_600_000_000_000
            path.write_text(json.dumps(launch))
        for path in study.files("rank-*.jsonl"):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            for number, line in enumerate(lines):
                if "unix_ns" in line:
                    line["unix_ns"] -= 1_000_000_000_000 * number
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.assertEqual(study.rematch("ingest").returncode, 0)
        self.assertEqual([study.rematch(*verb).stdout for verb in verbs], before)
        self.assertNotIn("-3600", "".join(before))


class OtherTrainer(unittest.TestCase):
    def test_a_run_and_a_plan_say_what_is_run_again(self):
        study = FakeStudy(self)
        self.assertEqual(study.run(REMATCH_FAKE_BUILD="build-a").returncode, 0)
        wanted = (f"the trainer is another build (build-a before, build-b now), and figures of two builds are not compared: {NUM_TRIALS} done trials of "
                  f"the former plan count no more (their folders stay), {NUM_TRIALS} of {NUM_TRIALS} trials are to be run")
        planned = study.rematch("plan", study.sweep, REMATCH_FAKE_BUILD="build-b")
        self.assertEqual(planned.returncode, 0)
        self.assertIn(wanted, planned.stderr)
        again = study.run(REMATCH_FAKE_BUILD="build-b")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(wanted, again.stderr)
        self.assertEqual(len(study.files("done.json")), 2 * NUM_TRIALS)
        self.assertEqual(study.rows("SELECT DISTINCT build_id FROM rank"), [("build-b",)])
        self.assertNotIn("another build", study.run(REMATCH_FAKE_BUILD="build-b").stderr)

    def test_a_trainer_that_is_replaced_while_the_study_runs_fails_the_attempt_by_name(self):
        study = FakeStudy(self)
        trainer = study.folder / "replaced"
        trainer.write_text(f'#!/bin/sh\n[ "$1" = --describe ] || export REMATCH_FAKE_BUILD=build-b\nexec {BIN}/fake_trainer "$@"\n')
        trainer.chmod(0o755)
        ended = study.rematch("--trainer", trainer, "run", study.sweep, REMATCH_FAKE_BUILD="build-a")
        self.assertEqual(ended.returncode, 8, ended.stderr)
        self.assertIn("the trial was planned for trainer build build-a, and this rank's is build-b", ended.stderr)
        self.assertEqual(study.files("done.json"), [], "nothing of it counts")
        self.assertEqual(study.rows("SELECT DISTINCT kind FROM failure"), [("launch",)])
        self.assertEqual(json.loads(study.files("launch.json")[0].read_text())["end"], "all_exited")
        self.assertEqual(study.run(REMATCH_FAKE_BUILD="build-b").returncode, 0)
        self.assertEqual(len(study.final_attempts()), NUM_TRIALS)


if __name__ == "__main__":
    unittest.main()
