"""Every warning has an identifier of the table, every identifier is used, and no program text makes a warning by hand."""
import json
import re
import unittest

from tree import ROOT, read_text, tree_files

TABLE = "orchestrator/base/warnings.def"
ROW = re.compile(r'^REMATCH_WARNING\((\w+), "([a-z-]+)"', re.MULTILINE)
# What a source or a sweep's author says is quoted, and what was looked for is no warning.
QUOTED = ("published: ", "the sweep says: ", "No symptom shows")
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
            finding = name.removeprefix("doctor-")
            wanted = f"WarningId::{enumerator}\\b" if finding == name else f'"{finding.replace("-", "_")}_?"'
            self.assertTrue(re.search(wanted, everything), name)

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
