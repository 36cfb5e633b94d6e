"""`rematch doctor` on this machine: every line says what was wanted and found, and its exit code whether a run would start."""
import json
import os
import unittest

from fake_study import FakeStudy

NAMES = ["trainer", "trainer_devices", "communication", "ports", "clocks", "devices", "slurm", "cores", "memory", "open_files", "processes",
         "locked_memory", "memory_killer", "workspace", "file_system", "free_space", "lock", "database", "leftovers"]


class Doctor(unittest.TestCase):
    def findings(self, study, *arguments, code, **options):
        ended = study.rematch("doctor", "--json", *arguments, **options)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        document = json.loads(ended.stdout)
        self.assertEqual(document["schema_version"], 1)
        for finding in document["findings"]:
            self.assertIn(finding["state"], ("ok", "warning", "problem"))
            self.assertTrue(finding["wanted"] and finding["found"], finding)
            self.assertEqual(finding["advice"] is None, finding["state"] == "ok", finding)
            page = None if finding["state"] == "ok" else "doctor-" + finding["name"].replace("_", "-")
            self.assertEqual(finding["id"], page, "the page that explain shows")
        states = [finding["state"] for finding in document["findings"]]
        self.assertEqual((document["num_problems"], document["num_warnings"]), (states.count("problem"), states.count("warning")))
        return {finding["name"]: finding for finding in document["findings"]}

    def test_a_machine_on_which_a_run_starts_has_no_problem_and_nothing_is_made(self):
        study = FakeStudy(self)
        findings = self.findings(study, code=0)
        self.assertEqual(list(findings), NAMES)
        self.assertIn("fake-trainer-1", findings["trainer"]["found"])
        self.assertIn("gloo", findings["communication"]["found"])
        self.assertFalse(study.root.exists())
        self.assertIn("is not there yet", findings["workspace"]["found"])

    def test_it_works_without_a_trainer_and_says_that_a_run_does_not(self):
        findings = self.findings(FakeStudy(self), "--trainer", "/no/such/trainer", code=8)
        self.assertEqual(findings["trainer"]["state"], "problem")
        self.assertEqual(list(findings), [name for name in NAMES if name not in ("trainer_devices", "communication")])

    def test_a_trainer_that_is_none_is_a_problem(self):
        findings = self.findings(FakeStudy(self), "--trainer", "/bin/true", code=8)
        self.assertEqual(findings["trainer"]["state"], "problem")
        self.assertIn("not JSON", findings["trainer"]["found"])

    def test_limits_that_would_stop_a_run_are_told_from_those_that_narrow_it(self):
        def limited(command):
            return ("bash", "-c", command + '; exec "$@"', "bash")

        findings = self.findings(FakeStudy(self), code=0, prefix=limited("ulimit -n 200"))
        self.assertEqual(findings["open_files"]["state"], "warning")
        self.assertIn("At most 136 ranks", findings["open_files"]["advice"])
        findings = self.findings(FakeStudy(self), code=8, prefix=limited("ulimit -n 40"))
        self.assertEqual(findings["open_files"]["state"], "problem")

    def test_slurm_commands_are_looked_for_on_path(self):
        study = FakeStudy(self)
        folder = study.folder / "bin"
        folder.mkdir()
        for name in ("sbatch", "squeue"):
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
        findings = self.findings(study, code=0, PATH=str(folder))
        self.assertEqual(findings["slurm"]["state"], "warning")
        self.assertIn("found sbatch, squeue; not found srun", findings["slurm"]["found"])

    def test_a_cluster_is_looked_at_when_it_is_asked_for(self):
        study = FakeStudy(self)
        folder = study.folder / "bin"
        folder.mkdir()
        findings = self.findings(study, "--slurm", code=8, PATH=str(folder))
        self.assertEqual(list(findings), NAMES + ["slurm_programs"])
        self.assertIn("not of use: sbatch, squeue", findings["slurm_programs"]["found"])
        for name in ("sbatch", "squeue", "scancel", "scontrol", "srun", "sinfo", "sacct"):
            (folder / name).write_text("#!/bin/sh\necho slurm 23.11.4\n")
            (folder / name).chmod(0o755)
        findings = self.findings(study, "--slurm", "--partition", "gpu", code=8, PATH=f"{folder}:{os.environ['PATH']}", SBATCH_QOS="low")
        self.assertEqual(findings["slurm_programs"]["state"], "ok")
        self.assertEqual(findings["slurm_partitions"]["state"], "problem")
        self.assertIn("SBATCH_QOS", findings["slurm_variables"]["found"])
        self.assertEqual(study.rematch("doctor", "--partition", "gpu").returncode, 2)

    def test_a_finished_study_leaves_a_sound_database_and_no_process(self):
        study = FakeStudy(self)
        self.assertEqual(study.run().returncode, 0)
        findings = self.findings(study, code=0)
        self.assertRegex(findings["database"]["found"], r"schema version \d+ .*, sound")
        self.assertEqual(findings["leftovers"]["found"], "none")
        self.assertEqual(findings["lock"]["found"], "free")

    def test_help_begins_with_examples(self):
        shown = FakeStudy(self).rematch("doctor", "--help").stdout
        self.assertLess(shown.index("Examples:"), shown.index("Options:"))


if __name__ == "__main__":
    unittest.main()
