"""Completion in real shells: bash and zsh at a terminal, fish by its own `complete -C`, over a workspace with odd names."""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import time
import unittest

from fake_study import BIN, SWEEP, FakeStudy, time_allowance

REMATCH = BIN / "rematch"
ODD_STUDY = "it's odd (ü)"
# In the shells' PATH as `rematch`: the program where it completes, else the words that it was called with.
STAND_IN = f"""#!/bin/sh
case $1 in complete|completion) exec '{REMATCH}' "$@";; esac
printf 'GOT'
for word; do printf '<%s>' "$word"; done
echo
"""


class Terminal:
    """A shell at a terminal of its own. `prompt` is what it prints when it waits."""

    def __init__(self, command, folder, environment):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.seen = ""

    def wait_for(self, text, limit_s=20):
        deadline = time.monotonic() + time_allowance(limit_s)
        while text not in self.seen:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                raise AssertionError(f"no {text!r} in {self.seen!r}")
            self.seen += os.read(self.descriptor, 65536).decode(errors="replace")
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def words_of(self, line):
        """Types the line, a tab in it being a tab, and Enter; the words that `rematch` was called with."""
        self.type(line + "\r")
        self.wait_for("GOT")
        words = self.wait_for("\n").strip()
        return words[1:-1].split("><")

    def close(self):
        os.close(self.descriptor)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed; scripts/setup --tests installs it")


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = FakeStudy(cls, SWEEP.replace("labels: [moe_act, moe]", "labels: [moe_act]\n  sets: [[layernorm, moe_act]]"))
        cls.folder = pathlib.Path(cls.study.folder)
        cls.study.run()
        cls.workspace = cls.folder / "w's ö"
        shutil.copytree(cls.study.root, cls.workspace)
        odd = cls.workspace / "studies" / f"{ODD_STUDY}-0123456789abcdef"
        odd.mkdir()
        (odd / "study.json").write_text("{}")
        (cls.folder / "my sweep.yaml").write_text("")
        (cls.folder / "notes.txt").write_text("")
        stand_in = cls.folder / "bin" / "rematch"
        stand_in.parent.mkdir()
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)

    def environment(self, **more):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "TERM": "vt100", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": str(self.folder),
                "REMATCH_TRAINER": str(BIN / "fake_trainer"), **more}

    def check_lines(self, terminal):
        workspace = "w's ö"
        options = ["--workspace", workspace]
        typed = '--workspace "' + workspace + '"'
        self.assertEqual(terminal.words_of("rematch repo\t"), ["report"])
        self.assertEqual(terminal.words_of("rematch report --form\tjs\t"), ["report", "--format", "json"])
        self.assertEqual(terminal.words_of("rematch report --format=cs\t"), ["report", "--format=csv"])
        self.assertEqual(terminal.words_of(f"rematch {typed} report it\t"), [*options, "report", ODD_STUDY])
        self.assertEqual(terminal.words_of(f"rematch {typed} show layer\t"), [*options, "show", "layernorm+moe_act"])
        self.assertEqual(terminal.words_of("rematch explain uncol\t"), ["explain", "uncollected-trials"])
        self.assertEqual(terminal.words_of("rematch plan my\t"), ["plan", "my sweep.yaml"])
        self.assertEqual(terminal.words_of("rematch run x --set strategy.ki\tpa\t"), ["run", "x", "--set", "strategy.kind=pairs"])
        self.assertEqual(terminal.words_of("rematch init moon\t"), ["init", "moonlight_16b"])

    @needs("bash")
    def test_bash_completes_verbs_options_values_names_of_the_workspace_and_files(self):
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.folder, self.environment(PS1="ready> "))
        self.addCleanup(terminal.close)
        terminal.wait_for("ready> ")
        terminal.type("bind 'set enable-bracketed-paste off'; source <(rematch completion bash); echo loa''ded\r")
        terminal.wait_for("loaded")
        self.check_lines(terminal)

    @needs("zsh")
    def test_zsh_completes_verbs_options_values_names_of_the_workspace_and_files(self):
        terminal = Terminal(["zsh", "-f", "-i"], self.folder, self.environment(PS1="ready> "))
        self.addCleanup(terminal.close)
        terminal.wait_for("ready> ")
        terminal.type("unset zle_bracketed_paste; autoload -U compinit; compinit -D -u; source <(rematch completion zsh); echo loa''ded\r")
        terminal.wait_for("loaded")
        self.check_lines(terminal)

    def fish(self, line):
        script = f"{REMATCH} completion fish | source; complete -C {quoted(line)}"
        ended = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, cwd=self.folder, env=self.environment(),
                               timeout=time_allowance(20))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return [row.split("\t")[0] for row in ended.stdout.splitlines()]

    @needs("fish")
    def test_fish_completes_verbs_options_values_names_of_the_workspace_and_files(self):
        typed = '--workspace "w\'s ö"'
        self.assertEqual(self.fish("rematch repo"), ["report"])
        self.assertIn("--format=csv", self.fish("rematch report --format="))
        self.assertEqual(self.fish(f"rematch {typed} report it"), [ODD_STUDY])
        self.assertIn("layernorm+moe_act", self.fish(f"rematch {typed} show "))
        self.assertIn("my sweep.yaml", self.fish("rematch plan my"))

    def complete(self, *words, limit_s=10):
        ended = subprocess.run([str(REMATCH), "complete", "--shell", "zsh", "--", *words], capture_output=True, text=True, cwd=self.folder,
                               env=self.environment(), timeout=time_allowance(limit_s))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), "it is silent")
        return [line.removeprefix("candidate ").split("\t")[0] for line in ended.stdout.splitlines() if line.startswith("candidate ")]

    def test_it_is_silent_where_there_is_nothing_and_writes_nothing(self):
        self.assertEqual(self.complete("--workspace", "/no/such/place", "report", ""), [])
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "rematch.db").write_text("no database")
        self.assertEqual(self.complete("--workspace", str(broken), "show", ""), [])
        def content():  # a reader leaves its mark in the shared memory of the database's log
            return sorted((path.name, path.stat().st_mtime_ns) for path in self.workspace.iterdir() if path.suffix != ".db-shm")

        before = content()
        self.assertIn("[]", self.complete("--workspace", str(self.workspace), "show", ""))
        self.assertEqual(content(), before)

    def test_trials_are_offered_once_one_is_begun_and_arms_of_the_study_that_is_typed(self):
        trial = self.study.files("trial.json")[0].parent.parent.name
        workspace = str(self.workspace)
        self.assertNotIn(trial, self.complete("--workspace", workspace, "show", ""))
        self.assertIn(trial, self.complete("--workspace", workspace, "show", trial[:3]))
        self.assertEqual(self.complete("--workspace", workspace, "show", "--study", "another", ""), [])
        self.assertIn("moe_act", self.complete("--workspace", workspace, "show", "--study=fake", ""))

    def test_arms_and_studies_are_those_of_the_database_that_is_typed(self):
        workspace = str(self.workspace)
        self.assertEqual(self.complete("--workspace", "/no/such/place", "compare", "--db", workspace, "moe_"), ["moe_act"])
        self.assertEqual(self.complete("--workspace", "/no/such/place", "compare", "moe_act", "--against-db", workspace, "--against-study", "fa"), ["fake"])
        self.assertEqual(self.complete("--workspace", workspace, "compare", "--against-study", "other", "moe_act", "moe_"), [])
        self.assertIn("moonlight_16b", self.complete("labels", "--model", "moonlight_"))

    def test_it_takes_less_than_fifty_milliseconds_of_processor_time(self):
        before = os.times()
        for _ in range(4):
            self.complete("--workspace", str(self.workspace), "show", "")
        after = os.times()
        used_s = after.children_user + after.children_system - before.children_user - before.children_system
        self.assertLess(used_s / 4, time_allowance(0.05))


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


if __name__ == "__main__":
    unittest.main()
