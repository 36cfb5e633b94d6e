"""`rematch init` as a user calls it, and the manual page and help that are built with the program."""
import json
import pathlib
import shutil
import subprocess
import unittest

from fake_study import BIN, FakeStudy, time_allowance

SHARE = BIN.parent / "share"


class Init(unittest.TestCase):
    def test_a_file_is_written_and_never_replaced_unasked(self):
        study = FakeStudy(self)
        study.place = study.folder
        written = study.rematch("init", "moonlight_16b", "--device", "cpu")
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertIn("wrote moonlight_16b.yaml; next: rematch plan moonlight_16b.yaml", written.stderr)
        path = study.folder / "moonlight_16b.yaml"
        path.write_text("mine")
        again = study.rematch("init", "moonlight_16b")
        self.assertEqual((again.returncode, path.read_text()), (2, "mine"))
        self.assertIn("is there already; --force replaces it", again.stderr)
        self.assertEqual(study.rematch("init", "moonlight_16b", "--force").returncode, 0)
        self.assertIn("preset: moonlight_16b", path.read_text())

    def test_errors_name_what_was_wanted(self):
        study = FakeStudy(self)
        for arguments, code, words in ((("moonlight_16",), 2, "did you mean 'moonlight_16b'"), ((), 2, "init --list"),
                                       (("moonlight_16b", "--world-size", "6"), 2, "wants a multiple of 8 ranks"),
                                       (("moonlight_16b", "-o", "/no/such/folder/x.yaml"), 8, "was not written")):
            ended = study.rematch("init", *arguments)
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.assertIn(words, ended.stderr)

    @unittest.skipUnless((BIN / "rematch-train").exists(), "rematch-train is not built here")
    def test_the_real_trainer_s_presets_are_listed_and_one_is_planned(self):
        study = FakeStudy(self)
        trainer = ("--trainer", study.folder / "described")  # asked once: it takes LibTorch long to load
        described = subprocess.run([str(BIN / "rematch-train"), "--describe"], capture_output=True, text=True, check=True,
                                   timeout=time_allowance(20))
        trainer[1].with_suffix(".json").write_text(described.stdout)
        trainer[1].write_text('#!/bin/sh\n[ "$*" = --describe ] && exec cat "$0.json"\n')
        trainer[1].chmod(0o755)
        presets = json.loads(study.rematch("init", "--list", "--json", *trainer).stdout)["presets"]
        ranks = {preset["name"]: (preset["is_tiny"], preset["world_size"]) for preset in presets}
        self.assertEqual((ranks["llama3_70b"], ranks["llama3_tiny"]), ((False, 32), (True, 1)))
        path = study.folder / "qwen.yaml"
        self.assertEqual(study.rematch("init", "qwen3_next_tiny", "-o", path, *trainer).returncode, 0)
        planned = study.rematch("plan", path, *trainer)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        self.assertNotIn("inactive", planned.stdout)


class Pages(unittest.TestCase):
    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed; scripts/setup --tests installs it")
    def test_the_manual_page_that_was_built_has_nothing_that_mandoc_complains_of(self):
        page = SHARE / "man" / "man1" / "rematch.1"
        ended = subprocess.run(["mandoc", "-T", "lint", str(page)], capture_output=True, text=True, timeout=time_allowance(20))
        self.assertEqual((ended.returncode, ended.stdout + ended.stderr), (0, ""))

    def test_an_installed_program_has_its_page_and_completions(self):
        rules = (BIN.parent / "orchestrator" / "cmake_install.cmake").read_text()
        for name in ("man/man1/rematch.1", "bash-completion/completions/rematch", "zsh/site-functions/_rematch",
                     "fish/vendor_completions.d/rematch.fish"):
            self.assertIn(name.rsplit("/", 1)[1], rules)
            self.assertGreater(pathlib.Path(SHARE, name).stat().st_size, 500, name)

    def test_help_of_a_verb_is_what_the_verb_says_itself_with_examples_first(self):
        rematch = str(BIN / "rematch")
        said = [subprocess.run([rematch, *words], capture_output=True, text=True, timeout=time_allowance(20)).stdout
                for words in (("help", "report"), ("report", "--help"))]
        self.assertEqual(said[0], said[1])
        self.assertLess(said[0].index("Examples:"), said[0].index("Options:"))


if __name__ == "__main__":
    unittest.main()
