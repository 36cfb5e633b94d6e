"""Every warning has an identifier of the table, every identifier is used, and no program text makes a warning by hand."""
import json
import re
import unittest

from tree import ROOT, read_text, tree_files

TABLE = "orchestrator/base/warnings.def"
ROW = re.compile(r'^REMATCH_WARNING\((\w+), "([a-z-]+)"', re.MULTILINE)
# What a source or a sweep's author says is quoted, and what was looked for is no warning.
QUOTED = ("published: ", "the source of ", "the sweep says: ", "No symptom shows")
# What an AuditFinding begins with: the check, the subject and the severity.
CHECK = re.compile(r'\{(mix_up\.empty\(\) \? "work" : "units"|"[a-z]+"),\s*[^;{}]*?AuditSeverity::')
MADE_BY_HAND = re.compile(r'"[^"\n]*\bwarning(?: \[|: )')


def sources():
    return [name for name in map(str, tree_files()) if name.startswith("orchestrator/") and name.endswith((".cpp", ".h"))]


class Warnings(unittest.TestCase):
    def setUp(self):
        self.rows = ROW.findall(read_text(TABLE))
        self.names = {name for _, name in self.rows}
        self.texts = {name: read_text(name) for name in sources()}

    def test_every_identifier_is_used(self):
        everything = "\n".join(self.texts.values())
        for enumerator, name in self.rows:
            finding = name.removeprefix("doctor-").removeprefix("audit-")
            by_enumerator = re.search(f"WarningId::{enumerator}\\b", everything)
            by_finding = finding != name and re.search(f'"{finding.replace("-", "_")}_?"', everything)
            self.assertTrue(by_enumerator or by_finding, name)

    def test_every_check_of_the_audit_has_a_page(self):
        rules = "\n".join(text for name, text in self.texts.items() if name.startswith("orchestrator/rules/audit_"))
        checks = {check for found in CHECK.findall(rules) for check in re.findall(r'"([a-z]+)"', found)}
        self.assertIn("rounding", checks)
        self.assertEqual({f"audit-{check}" for check in checks} | {"audit-contradicted"},
                         {name for name in self.names if name.startswith("audit-")})

    def test_no_warning_is_made_by_hand(self):
        found = [name for name, text in self.texts.items() if name.endswith(".cpp") and MADE_BY_HAND.search(text)]
        self.assertEqual(found, ["orchestrator/base/warnings.cpp"])

    def test_every_note_of_a_golden_report_has_one(self):
        num_notes = 0
        for path in sorted((ROOT / "reports/golden").glob("*.json")):
            for note in json.loads(path.read_text(encoding="utf-8"))["notes"]:
                if note.startswith(QUOTED):
                    continue
                num_notes += 1
                found = re.match(r"\[([a-z-]+)\] ", note)
                self.assertTrue(found and found.group(1) in self.names, f"{path.name}: {note}")
        self.assertGreater(num_notes, 5)


if __name__ == "__main__":
    unittest.main()
