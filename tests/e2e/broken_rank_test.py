"""A rank of the real trainer that dies or hangs: its trial ends in time with the right stage, kind and rank, and the sweep goes on."""
import json
import os
import signal
import time
import unittest

from workspace import TINY_SWEEP, Workspace, records, wait_for

TIMEOUT_S = 25
# After the deadline the supervisor still asks, waits a grace of seconds, and kills.
GRACE_S = 10


class BrokenRank(unittest.TestCase):
    def rank_past_step(self, workspace, arm, rank, step):
        """The process id of this rank of the arm's running trial, once it has completed the step."""
        for path in workspace.files(f"rank-{rank:05d}.jsonl"):
            lines = records(path)
            if json.loads((path.parent / "trial.json").read_text())["arm"] == arm and any(line.get("step") == step for line in lines
                                                                                         if line["t"] == "step"):
                return next(line["pid"] for line in lines if line["t"] == "hello")
        return None

    def break_rank(self, how):
        workspace = Workspace(self)
        sweep = workspace.write_sweep(TINY_SWEEP.replace("60s", f"{TIMEOUT_S}s").replace("train_iters: 24", "train_iters: 60"))
        with workspace.running("run", sweep) as controller:
            pid = wait_for(lambda: self.rank_past_step(workspace, "moe_act", 1, 4), 120, "rank 1 of moe_act past step 4")
            broken_at = time.monotonic()
            os.kill(pid, how)
            (launch,) = wait_for(lambda: [path for path in workspace.files("launch.json") if workspace.trial_of(path)["arm"] == "moe_act"],
                                 TIMEOUT_S + GRACE_S, "the end of the broken trial")
            ended_after_s = time.monotonic() - broken_at
            status = controller.wait(timeout=120)
        self.assertEqual(status, 4, workspace.log())
        self.assertEqual(workspace.processes(), {})
        outcomes = dict(workspace.rows("SELECT subject, outcome FROM verdict WHERE scope = 'arm'"))
        self.assertEqual(outcomes, {"[]": "pass", "moe_act": "fail", "moe": "pass"}, "the sweep goes on")
        (failure,) = workspace.rows("SELECT kind, stage, step, rank, message FROM failures")
        return failure, ended_after_s, json.loads(launch.read_text())

    def assert_in_training(self, stage, step):
        self.assertIn(stage, ("warm", "steady"))
        self.assertGreaterEqual(step, 4)

    def test_a_rank_that_is_killed_ends_its_trial_at_once_and_is_the_cause(self):
        (kind, stage, step, rank, message), ended_after_s, launch = self.break_rank(signal.SIGKILL)
        self.assertEqual((kind, rank), ("crashed", 1))
        self.assertIn("SIGKILL", message)
        self.assert_in_training(stage, step)
        self.assertLess(ended_after_s, GRACE_S)
        self.assertEqual((launch["end"], launch["cause_rank"]), ("rank_failed", 1))

    def test_a_rank_that_hangs_ends_its_trial_at_the_deadline_and_is_the_cause(self):
        (kind, stage, step, rank, _), ended_after_s, launch = self.break_rank(signal.SIGSTOP)
        self.assertEqual((kind, rank), ("timeout", 1))
        self.assert_in_training(stage, step)
        self.assertLess(ended_after_s, TIMEOUT_S + GRACE_S)
        self.assertEqual(launch["end"], "timeout")
