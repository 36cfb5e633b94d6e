"""The runner of a submission, `rematch work`, beside stand-ins of Slurm's commands: two at once, deaths, signals, limits, cancelled submissions. What it
leaves is what a local run comes to."""
import json
import os
import pathlib
import random
import signal
import time
import unittest

from fake_study import NUM_TRIALS, SWEEP, FakeStudy, time_allowance, wait_for

TWO_BLOCKS = SWEEP.replace("blocks: 1", "blocks: 2")
SLOW_EVERYWHERE = '{"rules":[{"slot":2,"sleep_us":150000}]}'
SLOW = '{"rules":[{"block":0,"slot":2,"sleep_us":150000}]}'
NAME = "fake-1"
SEED = 20261130
ALL = {"block": None, "trial_id": None}
COMMANDS = {
    "squeue": """\
case "$*" in
  *%L*) cat "$FAKE_SLURM/left" ;;
  *%D*) echo 1 ;;
esac""",
    "scontrol": """\
if [ "$1 $2" = "show hostnames" ]; then echo n1
else kill -TERM "$PPID"; exit "$(cat "$FAKE_SLURM/requeue_code")"
fi""",
}


class SubmittedStudy(FakeStudy):
    """Planned and submitted, with nothing started. Slurm's commands write what they are called with into `calls`."""

    def __init__(self, case, local, tasks=(ALL,), shape="allocation"):
        super().__init__(case)
        self.local = local
        self.sweep = local.sweep
        self.slurm = self.folder / "slurm"
        self.slurm.mkdir()
        self.answer("left", "1:00:00")
        self.answer("requeue_code", "0")
        for name, body in COMMANDS.items():
            (self.slurm / name).write_text(f'#!/bin/sh\necho {name} "$@" >>"$FAKE_SLURM/calls"\n{body}\n')
            (self.slurm / name).chmod(0o755)
        source, = local.root.glob("studies/*")
        self.study = self.root / "studies" / source.name
        (self.study / "submissions").mkdir(parents=True)
        for name in ("study.json", "sweep.yaml"):
            (self.study / name).write_bytes((source / name).read_bytes())
        self.submit(tasks=list(tasks), shape=shape)

    def submit(self, **changes):
        path = self.study / "submissions" / f"{NAME}.json"
        document = json.loads(path.read_text()) if path.exists() else {
            "schema": "rematch/submission/1", "name": NAME, "study_id": self.study.name[-16:], "command": ["sbatch", "--signal=B:USR1@20", "x.sh"],
            "intent_unix_ns": 1, "job_id": 77, "submit_unix_ns": 2, "cancel_unix_ns": None, "close_unix_ns": None, "message": ""}
        new = path.with_suffix(".new")
        new.write_text(json.dumps({**document, **changes}))
        new.rename(path)

    def answer(self, name, text):
        (self.slurm / name).write_text(text + "\n")

    def calls(self, start=""):
        path = self.slurm / "calls"
        return [line for line in path.read_text().splitlines() if line.startswith(start)] if path.exists() else []

    def of_job(self, job=77, restarts=0, **more):
        return {"PATH": f"{self.slurm}:{os.environ['PATH']}", "FAKE_SLURM": str(self.slurm), "SLURM_JOB_ID": str(job), "SLURM_JOB_NODELIST": "n1",
                "SLURM_JOB_NUM_NODES": "1", "SLURM_RESTART_COUNT": str(restarts), **more}

    def command_line(self):
        return "work", str(self.study), "--submission", NAME

    def work(self, fake="", **job):
        return self.rematch(*self.command_line(), fake=fake, **self.of_job(**job))

    def working(self, fake="", **job):
        return self.started(*self.command_line(), fake=fake, **self.of_job(**job))

    def runners(self, scope="study"):
        return [json.loads(path.read_text()) for path in sorted(self.study.glob(f"runners/{scope}-*.json"))]

    def plant(self, count, end, **changes):
        """Runners after the first, begun like it and ended with nothing done."""
        first, *_ = self.runners()
        for epoch in range(len(self.runners()) + 1, len(self.runners()) + 1 + count):
            record = {**first, "epoch": epoch, "end": end, "start_unix_ns": time.time_ns(), "pid": 2 ** 22 + epoch, "message": "", **changes}
            (self.study / "runners" / f"study-{epoch:04}.json").write_text(json.dumps(record))

    def ends(self, scope="study"):
        return [runner["end"] for runner in self.runners(scope)]

    def wait_done(self, count):
        wait_for(lambda: len(self.files("done.json")) >= count, 20, f"{count} trials that are done")


class Work(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.local = FakeStudy(cls, TWO_BLOCKS)
        result = cls.local.run()
        assert result.returncode == 0, result.stderr

    def study(self, *tasks, **options):
        return SubmittedStudy(self, self.local, tasks or (ALL,), **options)

    def check_complete(self, study, code):
        self.assertEqual(code, 0, study.log() if (study.folder / "controller.log").exists() else "")
        self.assertEqual(study.marked_processes(), [])
        study.submit(close_unix_ns=4)
        again = study.run()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(study.difference(self.local.content()), {})

    def test_it_leaves_what_a_local_run_comes_to_and_a_record_of_itself(self):
        study = self.study()
        result = study.work()
        self.assertRegex(result.stderr, r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ 8/8 .*: all ranks ended well")
        runner, = study.runners()
        self.assertEqual((runner["end"], runner["submission"], runner["nodes"]), ("complete", NAME, ["n1"]))
        self.assertEqual(runner["allocation"], {"job_id": 77, "array_job_id": None, "array_task_id": None, "restart_count": 0, "runner": runner["runner_id"]})
        self.assertEqual({json.loads(path.read_text())["allocation"]["runner"] for path in study.files("launch.json")}, {runner["runner_id"]})
        self.assertFalse((study.root / "rematch.db").exists())
        self.check_complete(study, result.returncode)

    def test_the_block_of_a_killed_runner_is_repeated_whole_by_the_next(self):
        study = self.study()
        with study.working(fake=SLOW) as runner:
            study.wait_done(2)
            runner.kill()
            runner.wait(timeout=10)
        second = study.work()
        self.assertIn("block 0 was left half done by another runner", second.stderr)
        self.assertEqual(study.ends(), [None, "complete"])
        self.assertEqual(len(study.files("superseded.json")), 2)
        self.check_complete(study, second.returncode)
        rebuilt = study.rematch("ingest", "--rebuild")
        self.assertEqual(rebuilt.returncode, 0, rebuilt.stderr)
        self.assertEqual(study.difference(self.local.content()), {})

    def test_a_runner_that_dies_at_any_point_is_followed_by_one_that_completes_the_study(self):
        for boundary in random.Random(SEED).sample(range(1, 170), 2) + [6]:  # 6: the claim is filed
            with self.subTest(boundary=boundary):
                study = self.study()
                with study.working(fake=SLOW) as runner:
                    study.wait_done(1)
                    runner.kill()
                    runner.wait(timeout=10)
                died = study.rematch(*study.command_line(), **study.of_job(REMATCH_CRASH_AT=str(boundary)))
                self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
                self.check_complete(study, study.work().returncode)

    def test_near_its_limit_it_ends_cleanly_and_puts_its_job_back(self):
        study = self.study()
        with study.working(fake=SLOW) as runner:
            study.wait_done(2)
            runner.send_signal(signal.SIGUSR1)
            self.assertEqual(runner.wait(timeout=time_allowance(20)), 75, study.log())
        self.assertEqual(study.ends(), ["requeued"])
        self.assertEqual(study.calls("scontrol requeue"), ["scontrol requeue 77"])
        self.assertEqual(study.marked_processes(), [])
        self.check_complete(study, study.work(restarts=1).returncode)

    def test_told_to_end_it_does_not_come_back(self):
        for signals in ([signal.SIGTERM], [signal.SIGUSR1, signal.SIGTERM]):
            with self.subTest(signals=[number.name for number in signals]):
                study = self.study()
                with study.working(fake=SLOW) as runner:
                    study.wait_done(2)
                    for number in signals:
                        runner.send_signal(number)
                    self.assertEqual(runner.wait(timeout=time_allowance(20)), 75, study.log())
                self.assertEqual(study.ends(), ["interrupted"])
                self.assertEqual(study.calls("scontrol requeue"), [])
                self.assertEqual(study.marked_processes(), [])

    @staticmethod
    def third_trial(study):
        """The record of its last rank, once it has begun."""
        return wait_for(lambda: [path for path in study.files("rank-00001.jsonl") if '"slot": 2' in (path.parent / "trial.json").read_text()],
                        20, "the third trial")[0]

    def test_a_trial_whose_ranks_the_end_of_the_job_ended_is_not_judged(self):
        """Slurm signals every process of a job, in any order."""
        for seen in (True, False):
            with self.subTest(seen=seen):
                study = self.study()
                with study.working(fake=SLOW) as runner:
                    study.wait_done(2)
                    trial = self.third_trial(study)
                    ranks = [pid for pid in study.marked_processes() if b"fake_trainer" in self.command_of(pid).split(b"\0")[0]]
                    self.assertEqual(len(ranks), 2)
                    if not seen:
                        runner.send_signal(signal.SIGSTOP)
                    for pid in ranks:
                        os.kill(pid, signal.SIGTERM)
                    if seen:
                        runner.send_signal(signal.SIGTERM)
                    else:
                        wait_for(lambda: (trial.parent / "launch.json").exists(), 20, "the end of the attempt")
                        runner.kill()
                    self.assertEqual(runner.wait(timeout=time_allowance(20)), 75 if seen else -signal.SIGKILL, study.log())
                self.assertEqual(len(study.files("done.json")), 2)
                second = study.work()
                if json.loads((trial.parent / "launch.json").read_text())["end"] == "rank_failed":  # the supervisor heard of it late
                    self.assertTrue((trial.parent / "superseded.json").exists())
                self.check_complete(study, second.returncode)

    @staticmethod
    def command_of(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return b""

    def test_a_job_that_slurm_does_not_take_back_says_so(self):
        study = self.study()
        study.answer("requeue_code", "1")
        study.answer("left", "0:20")
        result = study.work()
        self.assertEqual(result.returncode, 75)
        runner, = study.runners()
        self.assertEqual(runner["end"], "interrupted")
        self.assertIn("could not be put back into the queue: scontrol requeue 77 ended with exit code 1", runner["message"])

    def test_a_block_that_the_rest_of_the_allocation_is_too_short_for_is_left_to_the_next(self):
        study = self.study()
        study.answer("left", "0:20")
        result = study.work()
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertIn("block 1 takes about", result.stderr)
        self.assertEqual(study.ends(), ["requeued"])
        self.assertEqual(len(study.files("done.json")), NUM_TRIALS)
        second = study.work(restarts=1)
        self.assertIn("It is started all the same", second.stderr)
        self.check_complete(study, second.returncode)

    def requeued_without_a_block(self, study, restarts):
        """How the runner ends that is told of its limit in its first block."""
        before = set(study.files("done.json"))  # of a half-done block, which is set aside
        with study.working(fake=SLOW_EVERYWHERE, restarts=restarts) as runner:
            wait_for(lambda: set(study.files("done.json")) - before, 20, "a trial that this runner has done")
            runner.send_signal(signal.SIGUSR1)
            return runner.wait(timeout=time_allowance(20))

    def test_a_part_that_never_gets_a_block_done_is_not_queued_for_ever(self):
        study = self.study()
        self.assertEqual(self.requeued_without_a_block(study, 0), 75, study.log())
        study.plant(2, "requeued")
        self.assertEqual(self.requeued_without_a_block(study, 3), 8, study.log())
        self.assertEqual(study.calls("scontrol requeue"), ["scontrol requeue 77"])
        last = study.runners()[-1]
        self.assertEqual(last["end"], "failed")
        self.assertIn("so it was in the 3 allocations before it. Ask for a longer time limit", last["message"])

    def test_a_part_that_got_blocks_done_is_put_back_however_often_it_was(self):
        study = self.study()
        study.answer("left", "0:20")
        self.assertEqual(study.work().returncode, 75)
        self.assertEqual(len(study.files("done.json")), NUM_TRIALS)
        study.plant(3, "requeued", start_unix_ns=1)
        study.answer("left", "1:00:00")
        self.assertEqual(self.requeued_without_a_block(study, 4), 75, study.log())
        self.assertEqual(study.ends()[-1], "requeued")
        self.assertEqual(len(study.calls("scontrol requeue")), 2)

    def test_a_part_whose_runners_die_one_after_another_is_given_up(self):
        study = self.study()
        with study.working(fake=SLOW) as runner:
            self.third_trial(study)
            left = study.marked_processes()
            for number in (signal.SIGSTOP, signal.SIGKILL):  # a node that is lost: nobody has a last word
                for pid in [runner.pid, *left]:
                    os.kill(pid, number)
            runner.wait(timeout=10)
        study.plant(2, None)
        given_up = study.work(restarts=3)
        self.assertEqual(given_up.returncode, 8, given_up.stderr)
        self.assertEqual(study.ends(), [None, None, None, "failed"])
        self.assertRegex(study.runners()[-1]["message"], r"found that the last 3 runners of it died without a word.*; in flight was .* \(block 0, slot ")
        self.assertEqual(study.calls("scontrol requeue"), [])

    def test_a_submission_that_is_cancelled_while_its_limit_is_near_does_not_come_back(self):
        study = self.study()
        with study.working(fake=SLOW) as runner:
            study.wait_done(2)
            runner.send_signal(signal.SIGSTOP)
            study.submit(cancel_unix_ns=3)
            runner.send_signal(signal.SIGUSR1)
            runner.send_signal(signal.SIGCONT)
            self.assertEqual(runner.wait(timeout=time_allowance(20)), 75, study.log())
        self.assertEqual(study.ends(), ["interrupted"])
        self.assertEqual(study.calls("scontrol requeue"), [])

    def test_of_two_at_once_the_later_works_and_the_earlier_ends(self):
        study = self.study()
        with study.working(fake=SLOW) as first:
            study.wait_done(2)
            second = study.work(job=78)
            self.assertEqual(first.wait(timeout=time_allowance(20)), 75, study.log())
        self.assertEqual(study.ends(), ["superseded", "complete"])
        self.assertIn("waiting for another runner: study, epoch 1, of job 77", second.stderr)
        self.check_complete(study, second.returncode)

    def test_an_element_of_an_array_does_its_block_and_waits_for_a_runner_of_the_whole_study(self):
        blocks = [{"block": block, "trial_id": None} for block in (1, 0)]
        study = self.study(*blocks, shape="array")
        array = {"SLURM_ARRAY_JOB_ID": "70", "SLURM_ARRAY_TASK_ID": "0"}
        self.assertEqual(study.work(**array).returncode, 0)
        self.assertEqual(study.calls("squeue -h -j"), ["squeue -h -j 70_0 -o %L"])
        self.assertEqual({json.loads(path.read_text())["block"] for path in study.files("trial.json")}, {1})
        study.submit(tasks=[ALL], shape="allocation")
        with study.working(fake=SLOW) as whole:
            study.wait_done(NUM_TRIALS + 1)
            study.submit(tasks=blocks, shape="array")
            element = study.work(SLURM_ARRAY_JOB_ID="70", SLURM_ARRAY_TASK_ID="1")
            self.assertEqual(whole.wait(timeout=time_allowance(20)), 0, study.log())
        self.assertIn("waiting for another runner: study", element.stderr)
        self.assertEqual((study.ends("block-1"), study.ends("block-0"), study.ends()), (["complete"], ["complete"], ["complete"]))
        self.assertEqual(len(study.files("trial.json")), 2 * NUM_TRIALS, "nothing was done twice")
        refused = study.work(SLURM_ARRAY_JOB_ID="70", SLURM_ARRAY_TASK_ID="2")
        self.assertEqual(refused.returncode, 8)
        self.assertIn("wanted SLURM_ARRAY_TASK_ID from 0 to 1, found 2", refused.stderr)
        self.check_complete(study, element.returncode)

    def test_a_cancelled_submission_is_not_begun_and_ends_between_two_trials(self):
        study = self.study()
        study.submit(cancel_unix_ns=3)
        result = study.work()
        self.assertEqual(result.returncode, 75)
        self.assertIn(f"submission {NAME} was cancelled: nothing was started", result.stderr)
        self.assertEqual(study.runners(), [])
        study.submit(cancel_unix_ns=None)
        with study.working(fake=SLOW) as runner:
            study.wait_done(2)
            wait_for(lambda: len(study.files("trial.json")) == 3, 20, "a third trial in flight")
            study.submit(cancel_unix_ns=3)
            self.assertEqual(runner.wait(timeout=time_allowance(20)), 75, study.log())
        self.assertEqual(len(study.files("done.json")), 3, "the trial in flight came to its end")
        self.assertEqual(study.ends(), ["interrupted"])
        self.assertEqual(study.calls("scontrol requeue"), [])


if __name__ == "__main__":
    unittest.main()
