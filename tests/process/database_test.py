"""A database that another process holds, that is damaged, or that another version of the program made."""
import contextlib
import shutil
import sqlite3
import time
import unittest

from fake_study import ROOT, FakeStudy, time_allowance

BUSY_DEADLINE_S = 5


class Database(unittest.TestCase):
    def finished(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        return study

    def connection(self, study):
        return contextlib.closing(sqlite3.connect(study.root / "rematch.db", isolation_level=None))

    def test_a_run_waits_for_another_process_no_longer_than_its_deadline(self):
        study = self.finished()
        study.unfinish()
        with self.connection(study) as other:
            other.execute("BEGIN IMMEDIATE")
            begin = time.monotonic()
            refused = study.run()
            waited_s = time.monotonic() - begin
            self.assertEqual(refused.returncode, 8, refused.stderr)
            self.assertIn("database is locked", refused.stderr)
            self.assertIn(f"held it for over {BUSY_DEADLINE_S} s: end what has a transaction open", refused.stderr)
            self.assertGreaterEqual(waited_s, BUSY_DEADLINE_S - 0.1)
            self.assertLess(waited_s, BUSY_DEADLINE_S + time_allowance(5))
            self.assertEqual(study.rematch("report").returncode, 0, "readers are not kept out")
        self.assertEqual(study.run().returncode, 0)

    def test_a_damaged_one_is_named_and_made_anew_from_the_folders(self):
        for what in ("no database", "pages of zeros"):
            with self.subTest(what=what):
                study = self.finished()
                before, report, path = study.content(), study.report("md"), study.root / "rematch.db"
                damage(path, what)
                for verb in (("report",), ("run", study.sweep)):
                    refused = study.rematch(*verb)
                    self.assertEqual(refused.returncode, 8, refused.stderr)
                    self.assertIn("rematch ingest --rebuild", refused.stderr)
                    self.assertNotIn("internal error", refused.stderr)
                self.assertEqual(study.rematch("status").returncode, 0)
                self.assertRegex(study.rematch("doctor").stdout, r"problem +\[doctor-database\] database: ")
                damaged = path.read_bytes()
                self.assertEqual(study.rematch("ingest", "--rebuild").returncode, 0)
                self.assertEqual((study.root / "rematch.db.aside-1").read_bytes(), damaged)
                self.assertEqual(study.difference(before), {})
                self.assertEqual(study.report("md"), report)

    def test_one_of_a_newer_program_is_refused_and_stays_as_it_is(self):
        study = self.finished()
        with self.connection(study) as database:
            database.execute("CREATE TABLE of_the_future (n INTEGER)")
            database.execute("PRAGMA user_version = 99")
        path = study.root / "rematch.db"
        before = path.read_bytes()
        for verb in (("run", study.sweep), ("report",), ("ingest",)):
            refused = study.rematch(*verb)
            self.assertEqual(refused.returncode, 8, refused.stderr)
            self.assertIn("schema version is 99", refused.stderr)
        self.assertEqual(path.read_bytes(), before)
        doctor = study.rematch("doctor")
        self.assertEqual(doctor.returncode, 8)
        self.assertRegex(doctor.stdout, r"problem +\[doctor-database\] database: schema version 99")

    def test_an_older_one_is_copied_and_brought_to_the_newest_schema(self):
        study = self.finished()
        before, path = study.content(), study.root / "rematch.db"
        with self.connection(study) as database:
            newest, = database.execute("PRAGMA user_version").fetchone()
        older = self.of_first_schema(study)
        shutil.copy(older, path)
        self.assertRegex(study.rematch("doctor").stdout, rf"warning +\[doctor-database\] database: schema version 1 \(newest known: {newest}\)")
        again = study.run()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(study.rows("PRAGMA user_version"), [(newest,)])
        self.assertEqual(study.difference(before), {})
        self.assertEqual((study.root / "rematch.db.backup-v1").stat().st_size % 4096, 0)
        with contextlib.closing(sqlite3.connect(study.root / "rematch.db.backup-v1")) as backup:
            self.assertEqual(backup.execute("PRAGMA user_version").fetchone(), (1,))
            self.assertEqual(backup.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def of_first_schema(self, study):
        """A database as the first version of the program left it, before its first study."""
        path = study.folder / "older.db"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript((ROOT / "schemas" / "sql" / "0001_init.sql").read_text())
            database.execute("PRAGMA user_version = 1")
        return path


def damage(path, what):
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if what == "no database":
        path.write_bytes(b"this is no database\n" * 400)
        return
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)


if __name__ == "__main__":
    unittest.main()
