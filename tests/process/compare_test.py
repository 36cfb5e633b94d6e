"""Studies of two builds set against each other, gates with their exit code, and several databases in one query."""
import json
import signal
import subprocess
import unittest

from fake_study import SWEEP, FakeStudy

STEPS = {"blocks: 1": "blocks: 3", "train_iters: 6": "train_iters: 14", "steady_steps: 3": "steady_steps: 10"}


def sweep(name):
    text = SWEEP.replace("name: fake", f"name: {name}")
    for old, new in STEPS.items():
        text = text.replace(old, new)
    return text


def behaviour(step_time_us):
    return json.dumps({"rules": [], "step_time_us": step_time_us, "noise": step_time_us})


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.slow, cls.fast = FakeStudy(cls, sweep("nightly")), FakeStudy(cls, sweep("baseline"))
        assert cls.slow.run(fake=behaviour(1100)).returncode == 0
        assert cls.fast.run(fake=behaviour(1000)).returncode == 0

    def compare(self, *arguments):
        return self.slow.rematch("compare", "nightly", "baseline", "--db", self.slow.root, "--against-db", self.fast.root / "rematch.db", *arguments)

    def test_arms_of_two_studies_are_compared_with_intervals(self):
        shown = self.compare("--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        tables = {table["key"]: table for table in json.loads(shown.stdout)["tables"]}
        rows = tables["comparison"]["rows"]
        self.assertEqual([row["modules"] for row in rows], ["[]", "moe_act", "moe"])
        for row in rows:
            self.assertEqual(row["peak_delta_bytes"], 0)
            self.assertEqual(row["memory_verdict"], "equal")
            self.assertEqual(row["time_verdict"], "slower")
            self.assertTrue(0.05 < row["time_low_fraction"] < row["time_fraction"] < row["time_high_fraction"] < 0.15, row)

    def test_a_gate_fires_with_its_exit_code_and_names_arm_figure_and_bound(self):
        fired = self.compare("--fail-on", "regression>2%", "--fail-on", "outcome")
        self.assertEqual(fired.returncode, 9, fired.stderr)
        self.assertRegex(fired.stderr, r"gate regression>2%: moe_act: step time \+\d+\.\d+ % \[\+\d+\.\d+ %, \+\d+\.\d+ %\]; it fired")
        self.assertEqual(self.compare("--fail-on", "regression>30%", "--fail-on", "peak_allocated>1B").returncode, 0)
        undecided = self.compare("--fail-on", "step_time>10%")
        self.assertRegex(undecided.stderr, "holds the bound: undecided")
        refused = self.compare("--fail-on", "speed>2%")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("there is no metric 'speed'", refused.stderr)

    def test_fields_that_differ_are_refused_unless_they_are_meant_to(self):
        other = FakeStudy(self, sweep("driver").replace("labels: [moe_act, moe]", "labels: [moe_act]"))
        hello = {"rules": [{"rank": rank, "hello": {"machine.driver_version": "999"}} for rank in (0, 1)], "step_time_us": 1000, "noise": 3}
        self.assertEqual(other.run(fake=json.dumps(hello)).returncode, 0)
        words = ("compare", "driver", "--db", other.root, "--against-db", self.fast.root)
        refused = other.rematch(*words[:2], "baseline", *words[2:])
        self.assertEqual(refused.returncode, 7, refused.stderr)
        self.assertIn("differ beside recompute in machine.driver_version", refused.stderr)
        self.assertIn("999", refused.stdout)
        varied = other.rematch(*words[:2], "baseline", *words[2:], "--vary", "machine.driver_version")
        self.assertEqual(varied.returncode, 0, varied.stderr)
        self.assertIn("Varied on purpose", varied.stdout)
        gates = ("--fail-on", "outcome", "--fail-on", "peak_allocated>1GB")
        missing = other.rematch(*words[:2], "baseline", *words[2:], "--vary", "machine.driver_version", *gates)
        self.assertEqual(missing.returncode, 9, missing.stderr)
        self.assertIn("gate outcome: moe: passed and is now not run: driver has no such arm; it fired", missing.stderr)
        self.assertIn("moe: had a figure of its allocated peak and has none now", missing.stderr)
        unknown = other.rematch(*words[:2], "baseline", *words[2:], "--vary", "driver")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("no recorded field has that name", unknown.stderr)

    def test_subjects_that_are_several_or_none_are_listed(self):
        none = self.slow.rematch("compare", "mlp", "moe")
        self.assertEqual(none.returncode, 2)
        self.assertIn("no arm or trial 'mlp', and no study; there are the arms of nightly", none.stderr)
        several = self.slow.rematch("compare", "", "moe")
        self.assertEqual(several.returncode, 2, several.stderr)
        mixed = self.slow.rematch("compare", "nightly", "moe")
        self.assertIn("a study is set against a study", mixed.stderr)

    def test_gates_on_one_study(self):
        kept = self.fast.rematch("report", "--fail-on", "peak_allocated>1B", "--fail-on", "drift")
        self.assertEqual(kept.returncode, 9, kept.stderr)
        self.assertRegex(kept.stderr, r"the answer: allocated peak \d+ bytes \(\d+(\.\d+)? [kMG]?B\); it fired")
        self.assertEqual(self.fast.rematch("report", "--fail-on", "peak_allocated>900GB").returncode, 0)
        again = self.fast.run("--fail-on", "margin<2GB")
        self.assertEqual(again.returncode, 9, again.stderr)
        self.assertIn("the study has no budget", again.stderr)
        refused = self.fast.run("--fail-on", "regression>2%")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("one study is set against nothing here", refused.stderr)

    def test_what_stdout_does_not_take_is_an_error_unless_its_reader_left(self):
        full = self.shell("REMATCH > /dev/full")
        self.assertEqual((full.returncode, full.stdout), (8, ""), full.stderr)
        self.assertIn("stdout could not be written to its end", full.stderr)
        little = self.shell("REMATCH > /dev/full", num_rows=1)
        self.assertEqual(little.returncode, 8)
        self.assertIn("stdout could not be written to its end: No space left on device", little.stderr)
        for ignored in ("", "trap '' PIPE; "):
            left = self.shell(ignored + "REMATCH | true")
            self.assertEqual(left.stderr, "")
            self.assertIn(left.returncode, (0, 128 + signal.SIGPIPE))

    def shell(self, script, num_rows=1000):
        words = ("query", "--sql", f"SELECT * FROM steps a, steps b LIMIT {num_rows}", "-f", "jsonl")
        return subprocess.run(["bash", "-c", "set -o pipefail; " + script.replace("REMATCH", '"$@"'), "-", *self.slow.command(*words)],
                              capture_output=True, text=True, timeout=60, env=self.slow.environment())

    def test_a_query_spans_databases(self):
        databases = ("--db", self.slow.root, "--db", self.fast.root)
        both = json.loads(self.slow.rematch("query", "studies", *databases, "--json").stdout)
        self.assertEqual([row["study"] for row in both["rows"]], ["nightly", "baseline"])
        self.assertEqual(both["columns"][0], "database")
        self.assertEqual(len({row["database"] for row in both["rows"]}), 2)
        written = self.slow.rematch("query", "--sql", "DELETE FROM study", *databases)
        self.assertEqual(written.returncode, 2)
        path = self.slow.folder / "arms.csv"
        self.assertEqual(self.slow.rematch("query", "arms", "--since", "1h", "-f", "csv", "-o", path).returncode, 0)
        self.assertEqual(len(path.read_text().splitlines()), 4)
        self.assertEqual(self.slow.rematch("query", "arms", "--since", "soon").returncode, 2)
        self.assertEqual(self.slow.rematch("query", "arms", "--db", self.slow.folder / "none.db").returncode, 8)
        misspelt = self.slow.rematch("query", "runs", "--outcome", "passs")
        self.assertEqual(misspelt.returncode, 2)
        self.assertIn("did you mean 'pass'?", misspelt.stderr)
        for words in (("query", "--schema", *databases), ("query", "--schema", "--limit", "3"), ("query", "arms", "--study", ""),
                      ("report", "--json", "-f", "csv")):
            self.assertEqual(self.slow.rematch(*words).returncode, 2, words)
        self.assertTrue(self.slow.rematch("query", "--schema").stdout.startswith("# Views of schema version "))


if __name__ == "__main__":
    unittest.main()
