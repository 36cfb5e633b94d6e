"""An allocation of one node: the study runs and grows in it while nobody follows, and is collected later; jobs refused, held, requeued."""
import json
import os
import unittest

from slurm_case import SWEEP, LocalStudy, SlurmCase, wait_exit

# Noise that three blocks do not settle: the study adds blocks by itself.
NOISE = '{"noise":7}'
AUTO = SWEEP.replace("blocks: 1", "blocks: auto").replace("name: fake", "name: auto")


class OneNode(SlurmCase):
    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)
        cls.auto = LocalStudy.finished(cls, AUTO, fake=NOISE)

    def test_a_study_grows_while_nobody_follows_and_is_collected_later(self):
        study = self.study(self.auto)
        detached = study.run("--detach", fake=NOISE)
        self.assertEqual(detached.returncode, 0, detached.stderr)
        submission, = study.submissions()
        self.assertIn(submission["name"], detached.stdout)
        self.assertIn(str(submission["job_id"]), detached.stdout)
        self.wait_state(submission["job_id"], {"COMPLETED"}, 60)
        plan = json.loads((study.study_folder() / "study.json").read_text())
        self.assertGreater(len(plan["trials"]), 3 * 4, "three blocks of four trials, and those that the strategy added")
        self.assertEqual([runner["end"] for runner in study.runners()], ["complete"])
        collected = study.run(fake=NOISE)
        self.check_finished(collected, study, self.auto)
        self.assertEqual(len(study.submissions()), 1)
        again = study.run(fake=NOISE)
        self.assertEqual((again.returncode, again.stdout), (0, collected.stdout))
        self.assertEqual(len(study.submissions()), 1, "a finished study is reported, not submitted")

    def test_a_partition_that_is_not_there_is_refused_in_slurms_words(self):
        study = self.study(self.local, "--partition", "nowhere")
        result = study.run()
        self.assertEqual(result.returncode, 8, result.stderr)
        self.assertIn("invalid partition", result.stderr.lower())
        self.assertIn("nowhere", result.stderr)
        submission, = study.submissions()
        self.assertEqual(self.jobs(submission["name"]), [])
        self.assertIsNotNone(submission["close_unix_ns"])
        study.options = study.options[:-2]
        self.check_finished(study.run(), study, self.local)

    def test_set_up_that_fails_ends_the_job_before_any_trial_and_is_named(self):
        study = self.study(self.local, "--setup", "true", "--setup", "(exit 3)")
        self.assertEqual(study.run("--detach").returncode, 0)
        self.wait_state(study.wait_submitted()["job_id"], {"FAILED"}, 30)
        self.assertEqual((study.runners(), study.num_done()), ([], 0))
        self.assertIn("the set-up failed with exit code 3", study.rematch("logs", study.study_id(), "--job").stdout)

    def test_options_of_steps_make_each_trial_a_step_of_its_own(self):
        study = self.study(self.local, "--srun", "overlap")
        self.check_finished(study.run(), study, self.local)
        self.assertEqual(len(list(study.root.glob("studies/*/trials/*/attempt-1/node-0000/launch.json"))), len(study.files("done.json")))

    def test_an_option_of_steps_that_srun_does_not_know_ends_the_study_in_its_words(self):
        for nodes in "1", "2":
            with self.subTest(nodes=nodes):
                study = self.study(self.local, "--nodes", nodes, "--srun", "nonsense=1")
                result = study.run()
                self.assertEqual(result.returncode, 8, result.stderr)
                self.assertIn("unrecognized option '--nonsense=1'", result.stderr)
                self.assertEqual((len(study.submissions()), study.files("done.json")), (1, []))

    def test_a_held_job_is_waited_for_and_goes_on_when_it_is_released(self):
        study = self.study(self.local, "--slurm", "hold")
        with study.following() as controller:
            submission = study.wait_submitted()
            study.wait(lambda: "held" in study.log().lower(), 40, "a word on the held job")
            self.assertIsNone(controller.poll())
            self.assertEqual(study.num_done(), 0)
            self.lab.call("scontrol", "release", str(submission["job_id"]))
            self.assertEqual(wait_exit(controller, study, 60), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(len(study.submissions()), 1)

    def test_a_job_whose_launch_a_node_refused_is_submitted_anew(self):
        self.lab.refuse_launches("n1")
        study = self.study(self.local, "--nodelist", "n1")
        with study.following() as controller:
            study.wait_submitted()
            study.wait(lambda: "launch failed requeued held" in [row["reason"] for row in self.jobs()], 20, "a refused launch")
            self.lab.allow_launches("n1")
            self.assertEqual(wait_exit(controller, study, 90), 0, study.story())
        self.check_result(study, self.local)
        self.assertEqual(len(study.submissions()), 2)

    def test_a_job_that_is_told_of_its_limit_requeues_itself_and_completes(self):
        study = self.study(self.local)
        slow = '{"rules":[{"arm":"moe","sleep_us":600000}]}'
        with study.following(fake=slow) as controller:
            submission = study.wait_submitted()
            study.wait_done(3)
            self.lab.call("scancel", "--batch", "--signal=USR1", str(submission["job_id"]))
            study.wait_runner("requeued", 20)
            self.assertEqual(wait_exit(controller, study, 90), 0, study.story())
        self.check_result(study, self.local)
        row, = self.jobs(submission["name"])
        self.assertEqual((row["state"], row["restarts"]), ("COMPLETED", "1"))
        self.assertEqual(len(study.submissions()), 1)
        self.assertEqual([runner["end"] for runner in study.runners()], ["requeued", "complete"])

    def test_a_controller_killed_before_it_recorded_the_id_submits_once(self):
        study = self.study(self.local)
        wrapper = self.write_wrapper(study, "sbatch", 'real "$@"; kill -9 "$PPID"; exit 0')
        died = study.run(PATH=wrapper)
        self.assertEqual(died.returncode, -9, died.stderr)
        submission, = study.submissions()
        self.assertIsNone(submission["job_id"])
        self.check_finished(study.run(), study, self.local)
        after, = study.submissions()
        self.assertEqual((after["name"], len(self.jobs(submission["name"]))), (submission["name"], 1))
        self.assertIsNotNone(after["job_id"])

    def write_wrapper(self, study, name, body):
        """A program before the real one on PATH; `real` in its body is the real one. Returns PATH."""
        folder = study.folder / "wrappers"
        folder.mkdir(exist_ok=True)
        path = self.lab.environment()["PATH"]
        (folder / name).write_text(f'#!/bin/bash\nreal() {{ PATH="{path}" command {name} "$@"; }}\n{body}\n')
        (folder / name).chmod(0o755)
        return f"{folder}{os.pathsep}{path}"


if __name__ == "__main__":
    unittest.main()
