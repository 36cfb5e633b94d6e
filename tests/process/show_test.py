"""`rematch show`, `diagnose` and `explain` of a stored study: what they say first, and that the kept report and the judging of all rows say the same."""
import contextlib
import json
import sqlite3
import unittest

from fake_study import FakeStudy

OOM = '{"rules": [{"arm": "moe", "rank": 1, "stage": "first_backward", "step": 0, "do": "oom"}]}'


class Show(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = FakeStudy(cls)
        assert cls.study.run(fake=OOM).returncode == 0

    def printed(self, *words):
        result = self.study.rematch(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def forget_report(self):
        with contextlib.closing(sqlite3.connect(self.study.root / "rematch.db")) as database, database:
            kept = database.execute("SELECT * FROM report").fetchall()
            self.assertEqual(len(kept), 1)
            database.execute("DELETE FROM report")
        return kept[0]

    def restore_report(self, row):
        with contextlib.closing(sqlite3.connect(self.study.root / "rematch.db")) as database, database:
            database.execute(f"INSERT INTO report VALUES ({','.join('?' * len(row))})", row)

    def test_the_kept_report_and_the_rows_say_the_same(self):
        trial = json.loads(self.study.files("trial.json")[-1].read_text())["trial_id"]
        questions = [("show", "[]"), ("show", "moe_act"), ("show", "moe"), ("show", trial[:12]), ("diagnose",), ("diagnose", "moe"), ("diagnose", trial)]
        kept = [self.printed(*words, "--json") for words in questions]
        row = self.forget_report()
        try:
            for words, wanted in zip(questions, kept):
                with self.subTest(words):
                    self.assertEqual(json.loads(self.printed(*words, "--json")), json.loads(wanted))
        finally:
            self.restore_report(row)

    def test_an_arm_begins_with_its_verdict_in_words(self):
        text = self.printed("show", "moe_act")
        for part in ("- verdict:", "pass; memory", "## Verdict", "- outcome, pass: 1 of 1 runs pass", "- steady_steps, held:", "- peak_plateau, held:",
                     "- loss_match, held: losses are equal to the bit to []", "- memory,", "against [] (the control)", "- next, rematch run "):
            self.assertIn(part, text)
        failed = self.printed("show", "moe")
        for part in ("- outcome, fail: 0 of 1 runs pass", "- failure, oom: in stage first_backward, step 0", "on rank 1 of ", "were asked for, with ",
                     "of a limit of", "- next, rematch diagnose moe --study "):
            self.assertIn(part, failed)

    def test_a_study_is_told_from_its_arms(self):
        refused = self.study.rematch("show", "fake")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is a study, an arm or a trial is wanted; `rematch report ", refused.stderr)
        unknown = self.study.rematch("show", "mlp")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("its arms are: [], moe_act, moe", unknown.stderr)

    def test_a_page_is_shown_of_every_word_that_a_report_says(self):
        for name, part in (("undecided", "the interval holds 0"), ("optimizer_init", "optimizer_init (phase)"), ("oom", "oom (failure)"),
                           ("fragmentation", "backend.expandable_segments=true"), ("not comparable", "not-comparable (word)")):
            self.assertIn(part, self.printed("explain", name))
        listed = self.printed("explain", "--list")
        for heading in ("stages, in the order", "symptoms that diagnose looks for", "words of verdicts"):
            self.assertIn(heading, listed)


if __name__ == "__main__":
    unittest.main()
