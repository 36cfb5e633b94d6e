"""`ingest --published`: tables are imported whole or not at all, and the database's are made of the workspace's files."""
import json
import unittest

from fake_study import ROOT, FakeStudy

MOONLIGHT = ROOT / "sweeps" / "published" / "moonlight_16b_8xh100.json"
LLAMA = ROOT / "sweeps" / "published" / "llama3_70b_32xh100.json"


class PublishedImport(unittest.TestCase):
    def setUp(self):
        self.study = FakeStudy(self)

    def imported(self, *arguments, code=0):
        done = self.study.rematch("ingest", "--published", *map(str, arguments))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def answer(self, *arguments):
        asked = self.study.rematch("query", *arguments, "--limit", "0", "-f", "jsonl")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        return [json.loads(line) for line in asked.stdout.splitlines()]

    def test_tables_are_audited_imported_once_and_kept_by_a_rebuild(self):
        report = json.loads(self.imported(MOONLIGHT, LLAMA, "--json").stdout)
        self.assertEqual(report["header"]["num_confirmed_deltas"], 11)
        self.assertIn("is the same", self.imported(MOONLIGHT).stderr)
        before = self.answer("published")
        self.assertEqual(len(before), 11)
        self.assertEqual([row["arm"] for row in self.answer("published", "--study", "moonlight", "--arm", "moe_act")], ["moe_act"])
        first = self.answer("--sql", "SELECT peak_allocated_bytes, step_time_ns FROM published WHERE arm = '[]'")
        self.assertEqual(first, [{"peak_allocated_bytes": 36618000000, "step_time_ns": 457180000}])
        (self.study.root / "rematch.db").unlink()
        self.assertEqual(self.study.rematch("ingest").returncode, 0)
        self.assertEqual(self.answer("published"), before)
        (self.study.root / "published" / "torn.json").write_text("{")
        rebuilt = self.study.rematch("ingest", "--rebuild")
        self.assertEqual(rebuilt.returncode, 8)
        self.assertIn("torn.json", rebuilt.stderr)
        self.assertEqual(self.answer("published"), before)

    def test_a_changed_table_replaces_the_one_before_and_says_so_with_what_it_contradicts(self):
        self.imported(MOONLIGHT)
        table = json.loads(MOONLIGHT.read_text())
        table["rows"][4]["deltas"][1]["percent"] = 2.99
        changed = self.study.folder / "changed.json"
        changed.write_text(json.dumps(table))
        again = self.imported(changed)
        self.assertIn("replaces", again.stderr)
        self.assertIn(f"warning [audit-contradicted]: {table['name']}: 1 figure is contradicted", again.stderr)
        (row,) = self.answer("--sql", "SELECT published_fraction FROM published_deltas WHERE arm = 'moe_act' AND difference_of = 'step_time_ms'")
        self.assertAlmostEqual(row["published_fraction"], 0.0299)

    def test_one_bad_file_keeps_all_of_them_out(self):
        bad = self.study.folder / "bad.json"
        table = json.loads(LLAMA.read_text())
        table["rows"][1]["peak_allocated"]["bytes"] += 1
        bad.write_text(json.dumps(table))
        refused = self.imported(MOONLIGHT, bad, code=2)
        self.assertIn(f"{bad}: published.rows[1].peak_allocated.bytes: wanted 55600000000", refused.stderr)
        self.assertIn("no table was imported", refused.stderr)
        self.assertFalse((self.study.root / "published").exists())
        self.imported(MOONLIGHT, MOONLIGHT, code=2)

    def test_a_dry_run_audits_and_leaves_no_workspace(self):
        audited = self.imported(MOONLIGHT, "--dry-run")
        self.assertIn("Audit of the published table moonlight_16b_8xh100", audited.stdout)
        self.assertFalse(self.study.root.exists())

    def test_a_report_takes_an_imported_table_by_its_name(self):
        self.assertEqual(self.study.run().returncode, 0)
        self.imported(LLAMA)
        by_file = self.study.rematch("report", "--published", str(LLAMA))
        by_name = self.study.rematch("report", "--published", "llama3_70b_32xh100")
        self.assertEqual((by_name.returncode, by_name.stdout), (by_file.returncode, by_file.stdout))
        self.assertEqual(by_name.returncode, 7)
        wrong = self.study.rematch("report", "--published", "llama3_70b_32xh10")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean 'llama3_70b_32xh100'?", wrong.stderr)
        (self.study.folder / "llama3_70b_32xh100").mkdir()
        hidden = self.study.rematch("report", "--published", "llama3_70b_32xh100", prefix=("env", "-C", self.study.folder))
        self.assertEqual((hidden.returncode, hidden.stdout), (7, by_file.stdout), hidden.stderr)
        (self.study.root / "rematch.db").write_text("no database")
        self.assertIn("[no-counted-work]", self.imported(LLAMA, "--dry-run").stderr)


if __name__ == "__main__":
    unittest.main()
