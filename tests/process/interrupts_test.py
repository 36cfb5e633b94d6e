"""SIGINT and SIGTERM at seeded moments of a run, once and twice: once ends the trial in flight cleanly, twice ends its processes now; another run
comes to the same end as an undisturbed one."""
import contextlib
import os
import random
import signal
import subprocess
import time
import unittest

from fake_study import NUM_TRIALS, FakeStudy, time_allowance, wait_for

SLOW = '{"sleep_us":15000}'
SEED = 20240611
NUM_MOMENTS = 3


class Interrupts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.undisturbed = FakeStudy(cls)
        begin = time.monotonic()
        first = cls.undisturbed.run(fake=SLOW)
        cls.run_s = time.monotonic() - begin
        assert first.returncode == 0, first.stderr

    def study(self):
        study = FakeStudy(self)
        study.sweep = self.undisturbed.sweep
        return study

    def check(self, study, code, number):
        # Before the engine watches for signals, one ends the program as it ends any other.
        self.assertIn(code, (75, 0, -number), study.log())
        if code == 75:
            self.assertIn("run again to go on", study.log())
        self.assertEqual(study.marked_processes(), [])
        again = study.run()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(study.difference(self.undisturbed.content()), {})
        self.assertLessEqual(len(study.files("trial.json")), NUM_TRIALS + 1)

    def test_another_run_goes_on_after_each(self):
        rng = random.Random(SEED)
        codes = []
        for number in (signal.SIGINT, signal.SIGTERM):
            for times in (1, 2):
                for moment_s in (rng.uniform(0, self.run_s) for _ in range(NUM_MOMENTS)):
                    with self.subTest(signal=number.name, times=times, moment_s=moment_s):
                        study = self.study()
                        with study.started(fake=SLOW) as controller:
                            time.sleep(moment_s)
                            for _ in range(times):
                                controller.send_signal(number)
                                time.sleep(0.01)
                            code = controller.wait(timeout=time_allowance(20))
                        codes.append(code)
                        self.check(study, code, number)
        self.assertGreater(codes.count(75), 3, codes)

    def test_once_lets_ranks_end_by_themselves_and_twice_does_not_wait(self):
        for number, times, most_s in ((signal.SIGINT, 1, 10), (signal.SIGTERM, 1, 10), (signal.SIGINT, 2, 1.9), (signal.SIGTERM, 2, 1.9)):
            with self.subTest(signal=number.name, times=times):
                study = self.study()
                with study.started(fake='{"rules":[{"do":"hang_hard","stage":"steady"}]}') as controller:
                    wait_for(lambda: len(study.files("rank-*.jsonl")) == 2 and all(b'"steady"' in path.read_bytes() for path in study.files("rank-*.jsonl")),
                             20, "two ranks that hang")
                    begin = time.monotonic()
                    for time_ in range(times):
                        controller.send_signal(number)
                        wait_for(lambda: study.log().count("interrupted") > time_, 5, "the answer")
                    self.assertEqual(controller.wait(timeout=time_allowance(20)), 75, study.log())
                    duration_s = time.monotonic() - begin
                self.assertLess(duration_s, time_allowance(most_s))
                if times == 1:
                    self.assertGreater(duration_s, 1.9, "the ranks ignore SIGTERM, and have a grace of 2 s")
                self.assertEqual(study.marked_processes(), [])

    def test_nobody_outside_of_the_trial_is_signalled(self):
        """A bystander in the controller's own group and one in its session live on, whatever is ended."""
        study = self.study()
        with contextlib.ExitStack() as ends:
            fake = '{"rules":[{"do":"hang_hard","stage":"steady"},{"rank":0,"do":"daemon"}]}'
            controller = ends.enter_context(study.started(fake=fake))
            bystanders = [subprocess.Popen(["sleep", "60"], process_group=group) for group in (os.getpgid(controller.pid), 0)]
            for bystander in bystanders:
                ends.callback(bystander.kill)
            wait_for(lambda: study.files("daemon-0.pid"), 20, "a rank with a grandchild")
            daemon = int(study.files("daemon-0.pid")[0].read_text())
            for _ in range(2):
                controller.send_signal(signal.SIGINT)
                time.sleep(0.05)
            self.assertEqual(controller.wait(timeout=time_allowance(20)), 75, study.log())
            self.assertFalse(os.path.exists(f"/proc/{daemon}"), "the grandchild left session and parent, and is ended too")
            self.assertEqual([bystander.poll() for bystander in bystanders], [None, None])
            for bystander in bystanders:
                bystander.kill()
                bystander.wait(timeout=10)


if __name__ == "__main__":
    unittest.main()
