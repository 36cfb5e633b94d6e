"""What a user looks at: doctor of the cluster, status and logs of a study whose job waits, runs and has ended."""
import unittest

from slurm_case import LocalStudy, SlurmCase

SLOW = '{"rules":[{"arm":"moe","sleep_us":500000}]}'


class Views(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def shown(self, study, *arguments):
        result = study.rematch(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_doctor_runs_a_job_and_finds_that_jobs_work_here(self):
        study = self.study(self.local)
        study.root.mkdir()
        result = study.rematch("doctor", "--slurm", "--partition", "main", "--probe")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(self.lab.call("sinfo", "--version").split()[-1], result.stdout)
        self.assertIn("jobs work here", result.stdout)

    def test_doctor_names_a_partition_that_is_not_there(self):
        study = self.study(self.local)
        study.root.mkdir()
        result = study.rematch("doctor", "--slurm", "--partition", "nowhere")
        self.assertEqual(result.returncode, 8, result.stdout + result.stderr)
        self.assertIn("nowhere", result.stdout)

    def test_status_and_logs_follow_a_job(self):
        study = self.study(self.local)
        blocker = self.occupy("n1")
        study.options += ["--nodelist", "n1"]
        self.assertEqual(study.run("--detach", fake=SLOW).returncode, 0)
        submission = study.wait_submitted()
        self.assertIn("PENDING", self.shown(study, "status"))
        self.lab.call("scancel", blocker)
        study.wait_done(3)
        study.wait_in_flight()
        status = self.shown(study, "status")
        for word in ("RUNNING", "n1", str(submission["job_id"]), "moe"):
            self.assertIn(word, status)
        study.wait_runner("complete")
        self.assertIn("slot 3: all ranks ended well", self.shown(study, "logs", "--job"))
        self.check_finished(study.run(), study, self.local)


if __name__ == "__main__":
    unittest.main()
