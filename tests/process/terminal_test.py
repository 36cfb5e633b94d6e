"""Progress in real terminals: `rematch run` and `rematch status --watch` in panes of a tmux server of this test alone, at several widths, without colour,
on a dumb terminal and while the terminal is made narrower. All runs go at the same time; what a pane shows is looked at until each has ended."""
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from fake_study import BIN, SWEEP, FakeStudy, time_allowance

SLOW = '{"sleep_us": 200000}'  # of each of six steps: a trial takes some 1.2 s, in which progress is told twice
NUM_TRIALS = 3  # the control twice, one label
LIMIT_S = 45
PROGRESS = re.compile(r"^\d/\d .*step (\d+)( of |/)\d+")
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@unittest.skipUnless(shutil.which("tmux"), "MISSING: tmux is not installed; `scripts/setup --tests` installs it")
class Terminals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rematch-tmux-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        config = cls.folder / "tmux.conf"
        config.write_text("set -g remain-on-exit on\nset -g status off\nset -g default-terminal screen-256color\n")
        cls.server = ["tmux", "-u", "-S", str(cls.folder / "socket"), "-f", str(config)]
        cls.addClassCleanup(subprocess.run, [*cls.server, "kill-server"], capture_output=True, timeout=20)
        cls.screens = {}
        cls.widths = {"60": 60, "80": 80, "200": 200, "no-color": 80, "dumb": 80, "narrowed": 150}
        sweep = SWEEP.replace("labels: [moe_act, moe]", "labels: [moe_act]")
        cls.studies = {name: FakeStudy(cls, sweep) for name in cls.widths}
        for name, width in cls.widths.items():
            variables = {"no-color": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}}.get(name, {})
            cls.start(name, width, cls.run_command(cls.studies[name], cls.folder / f"{name}.md"), variables)
        cls.watch()

    @classmethod
    def run_command(cls, study, report):
        return shlex.join(map(str, study.command("run", study.sweep))) + f" >{shlex.quote(str(report))}"

    @classmethod
    def tmux(cls, *words):
        return subprocess.run([*cls.server, *map(str, words)], capture_output=True, text=True, timeout=20, check=True).stdout

    @classmethod
    def start(cls, name, width, command, variables):
        values = {"REMATCH_TRAINER": str(BIN / "fake_trainer"), "REMATCH_FAKE": SLOW, "NO_COLOR": "", **variables}
        setting = " ".join(f"{key}={shlex.quote(value)}" for key, value in values.items())
        marker = shlex.quote(str(cls.folder / f"{name}.ended"))
        cls.tmux("new-session", "-d", "-s", name, "-x", width, "-y", 24, f"{setting} sh -c {shlex.quote(command + '; echo $? >' + marker)}")

    @classmethod
    def screen(cls, name, *options):
        """Lines of the pane, those that the terminal broke put together again. "-S -": those that have left it at the top, too."""
        text = cls.tmux("capture-pane", "-p", "-J", "-t", name, *options)
        return [line.rstrip() for line in text.splitlines() if line.strip() and "Pane is dead" not in line]

    @classmethod
    def watch(cls):
        deadline = time.monotonic() + time_allowance(LIMIT_S)
        begin = time.monotonic()
        cls.narrowed_at = None
        while not all((cls.folder / f"{name}.ended").exists() for name in cls.widths):
            if time.monotonic() > deadline:
                raise AssertionError(f"not ended after {time_allowance(LIMIT_S)} s: " + repr({name: cls.screen(name) for name in cls.widths}))
            for name in cls.widths:
                cls.screens.setdefault(name, []).append(cls.screen(name, "-S", "-"))
            if cls.narrowed_at is None and time.monotonic() - begin > 1.5 and any(PROGRESS.match(line) for line in cls.screens["narrowed"][-1]):
                cls.tmux("resize-window", "-t", "narrowed", "-x", 50, "-y", 24)
                cls.narrowed_at = len(cls.screens["narrowed"])
            time.sleep(0.1)
        for name in cls.widths:
            cls.screens[name].append(cls.screen(name, "-S", "-"))

    def progress_lines(self, name):
        return [line for screen in self.screens[name] for line in screen if PROGRESS.match(line)]

    def endings(self, name):
        return [line for line in self.screens[name][-1] if re.match(rf"^\d/{NUM_TRIALS} .*ended well", line)]

    def test_no_line_is_wider_than_the_terminal_and_the_last_screen_has_the_ends_of_the_trials_alone(self):
        for name in ("60", "80", "200", "no-color"):
            with self.subTest(name):
                self.assertLess(max(len(line) for screen in self.screens[name] for line in screen), self.widths[name])
                self.assertEqual(len(self.endings(name)), NUM_TRIALS, self.screens[name][-1])
                self.assertEqual(self.screens[name][-1], self.endings(name))

    def test_the_line_of_a_trial_is_rewritten_in_place(self):
        for name in ("60", "80", "200"):
            with self.subTest(name):
                self.assertGreaterEqual(len({PROGRESS.match(line)[1] for line in self.progress_lines(name)}), 2)
                for screen in self.screens[name]:
                    self.assertLessEqual(sum(bool(PROGRESS.match(line)) for line in screen), 1, screen)

    def test_a_wide_terminal_has_every_part_and_a_narrow_one_what_matters_most(self):
        wide = "\n".join(self.progress_lines("200"))
        for part in (", block 0", ", slot ", "step ", "hot rank's peak ", " s left", "best so far "):
            self.assertIn(part, wide)
        middle = "\n".join(self.progress_lines("80"))
        for part in ("step ", "peak ", " left", "best "):
            self.assertIn(part, middle)
        narrow = "\n".join(self.progress_lines("60"))
        for part in ("moe_act", "step ", "peak ", " left"):
            self.assertIn(part, narrow)
        self.assertNotIn("best so far", narrow)

    def test_colours_are_there_and_no_color_takes_them_away(self):
        self.assertTrue(ESCAPE.search("\n".join(self.screen("80", "-e"))))
        self.assertFalse(ESCAPE.search("\n".join(self.screen("no-color", "-e"))))

    def test_a_dumb_terminal_gets_plain_lines(self):
        self.assertEqual(self.progress_lines("dumb"), [])
        self.assertEqual(len(self.endings("dumb")), NUM_TRIALS)
        self.assertFalse(ESCAPE.search("\n".join(self.screen("dumb", "-e"))))

    def test_a_terminal_that_is_made_narrower_keeps_one_line_and_no_remains(self):
        self.assertIsNotNone(self.narrowed_at)
        after = self.screens["narrowed"][self.narrowed_at:]
        fitting = [line for screen in after for line in screen if PROGRESS.match(line) and len(line) < 50]
        self.assertTrue(fitting, after)
        screen = self.screen("narrowed")  # tmux moves what it broke out of sight
        self.assertEqual([line for line in screen if PROGRESS.match(line) or len(line) > 50], [])
        self.assertRegex(screen[-1], rf"^{NUM_TRIALS}/{NUM_TRIALS} .*: ended well")

    def wait_until(self, condition, name):
        deadline = time.monotonic() + time_allowance(20)
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.screen(name))
            time.sleep(0.05)

    def test_the_watched_status_fits_and_stays_in_place(self):
        names = {f"watch-{width}": width for width in (60, 80, 200)}
        for name, width in names.items():
            self.start(name, width, "exec " + shlex.join(map(str, self.studies["60"].command("status", "--watch", "1"))), {})
        for name in names:
            self.wait_until(lambda name=name: any("complete" in line for line in self.screen(name)), name)
        time.sleep(1.2)  # it looks again
        for name, width in names.items():
            with self.subTest(name):
                screen = self.screen(name)
                self.assertEqual(len(screen), 2, screen)
                self.assertLessEqual(max(map(len, screen)), width)
                self.assertEqual("provenance" in screen[0], width > 60)
                self.tmux("send-keys", "-t", name, "C-c")
                self.wait_until(lambda name=name: self.tmux("list-panes", "-t", name, "-F", "#{pane_dead}").strip() == "1", name)
                self.assertTrue(any("complete" in line for line in self.screen(name)), "the last look stays")


if __name__ == "__main__":
    unittest.main()
