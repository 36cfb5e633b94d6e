"""A workspace on a full disk, on one that cannot be written, and one in which another controller works."""
import os
import re
import signal
import threading
import unittest

from fake_study import BIN, NUM_TRIALS, FakeStudy, Mounts, time_allowance, wait_for

# From too little for the plan to too little for the last trial's rows.
DISK_KIB = (16, 64, 200, 320, 480, 640, 720)


def finished_where_mounts_work(case):
    if why := Mounts.why_not():
        raise unittest.SkipTest(why)
    study = FakeStudy(case)
    first = study.run()
    assert first.returncode == 0, first.stderr
    return study


class FullDisk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.undisturbed = finished_where_mounts_work(cls)

    def run_on_disk_of(self, kib):
        """The exit code and messages on a disk of so many KiB, and those of a second run after space was made; the workspace is copied out."""
        study = FakeStudy(self)
        study.sweep = self.undisturbed.sweep
        study.root.mkdir()
        disk = study.folder / "disk"
        disk.mkdir()
        run = f"{BIN}/rematch --workspace {disk} run {study.sweep} >/dev/null"
        ended = Mounts.run(f"mount -t tmpfs -o size={kib}k tmpfs {disk}; {run} 2>{study.folder}/first; echo $?; mount -o remount,size=64m {disk}; "
                           f"{run} 2>{study.folder}/second; echo $?; cp -a {disk}/. {study.root}", env=study.environment())
        first, second = map(int, ended.stdout.split())
        return study, first, (study.folder / "first").read_text(), second, (study.folder / "second").read_text()

    def test_the_run_stops_with_one_clear_message_and_goes_on_when_there_is_space(self):
        codes = []
        for kib in DISK_KIB:
            with self.subTest(disk_kib=kib):
                study, first, said, second, said_then = self.run_on_disk_of(kib)
                codes.append(first)
                self.assertIn(first, (0, 8), said)
                if first == 8:
                    self.assertRegex(said, "(?i)no space left on device|disk is full|disk of .* is full")
                    self.assertIn("Free space, then", said)
                    self.assertNotIn("internal error", said)
                self.assertEqual(second, 0, said_then)
                self.assertEqual(study.difference(self.undisturbed.content()), {})
                self.assertEqual(study.rows("PRAGMA integrity_check"), [("ok",)])
        self.assertGreaterEqual(codes.count(8), 4, codes)


class ReadOnlyPlace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = finished_where_mounts_work(cls)
        cls.report = cls.study.report("md")

    def read_only(self, arguments, study=None):
        root = (study or self.study).root
        return Mounts.run(f"mount --bind {root} {root}; mount -o remount,ro,bind {root}; exec {BIN}/rematch --workspace {root} {arguments}",
                          env=self.study.environment())

    def test_a_run_is_refused_and_told_where_to_go(self):
        unfinished = FakeStudy(self)
        self.assertEqual(unfinished.run().returncode, 0)
        unfinished.unfinish()
        refused = self.read_only(f"run {unfinished.sweep}", unfinished)
        self.assertEqual(refused.returncode, 8, refused.stderr)
        self.assertIn("Read-only file system", refused.stderr)
        self.assertIn("--workspace", refused.stderr)

    def test_what_is_there_can_be_read(self):
        report = self.read_only("report -f md")
        self.assertEqual((report.returncode, report.stdout), (0, self.report), report.stderr)
        status = self.read_only("status --json")
        self.assertEqual(status.returncode, 0, status.stderr)
        self.assertIn('"num_done": 4', status.stdout)

    def test_doctor_says_so(self):
        doctor = self.read_only("doctor")
        self.assertEqual(doctor.returncode, 8)
        self.assertRegex(doctor.stdout, r"problem +\[doctor-workspace\] workspace: .*Read-only file system")


class TwoControllers(unittest.TestCase):
    def test_the_second_is_refused_and_names_process_host_study_and_start_of_the_first(self):
        study = FakeStudy(self)
        with study.started(fake='{"rules":[{"do":"hang"}]}') as first:
            wait_for(lambda: study.files("rank-00001.jsonl"), 20, "the first trial")
            for verb in (("run", study.sweep), ("ingest",)):
                second = study.rematch(*verb)
                self.assertEqual(second.returncode, 8, second.stderr)
                self.assertRegex(second.stderr, rf"in use by process {first.pid} on {re.escape(os.uname().nodename)} \(study fake-[0-9a-f]{{16}}, "
                                                r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)")
            self.assertRegex(study.rematch("doctor").stdout, rf"problem +\[doctor-lock\] lock: held by process {first.pid} on ")
            first.send_signal(signal.SIGTERM)
            self.assertEqual(first.wait(timeout=time_allowance(20)), 75, study.log())

    def test_however_often_status_looks_no_run_is_refused(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        over = threading.Event()

        def look():
            while not over.is_set():
                self.assertEqual(study.rematch("status").returncode, 0)

        watchers = [threading.Thread(target=look) for _ in range(2)]
        for watcher in watchers:
            watcher.start()
        try:
            codes = [study.run("-q").returncode for _ in range(15)]
        finally:
            over.set()
            for watcher in watchers:
                watcher.join()
        self.assertEqual(codes, [0] * 15)
        self.assertEqual(len(study.final_attempts()), NUM_TRIALS)


if __name__ == "__main__":
    unittest.main()
