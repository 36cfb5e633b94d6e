"""Ranks of the real trainer that die or hang, eight of them on two cores: each trial ends long before its deadline, the ledger names the rank
that failed and not its victims, and the sweep goes on."""
import json
import os
import signal
import time
import unittest

from workspace import TINY_SWEEP, Workspace, records, wait_for

TIMEOUT_S, COLLECTIVE_TIMEOUT_S = 300, 10
# Eight ranks start and come to step 4 on two cores, then one is broken, then the supervisor asks, waits a grace and kills.
LIMIT_S = 150
SWEEP = (TINY_SWEEP.replace("world_size: 2, expert_model_parallel_size: 2", "world_size: 8, expert_model_parallel_size: 4")
         .replace("global_batch_size: 2", "global_batch_size: 8").replace("train_iters: 24", "train_iters: 60")
         .replace("labels: [moe_act, moe]", "labels: [core_attn, moe_act, mlp, moe, mla_up_proj]")
         .replace("timeout: 60s", f"timeout: {TIMEOUT_S}s, collective_timeout: {COLLECTIVE_TIMEOUT_S}s"))
BROKEN = {"core_attn": (0, signal.SIGKILL), "moe_act": (3, signal.SIGKILL), "mlp": (7, signal.SIGKILL), "moe": (5, signal.SIGSTOP)}


class BrokenRank(unittest.TestCase):
    @classmethod
    def rank_past_step(cls, arm, rank, step):
        """The process id of this rank of the arm's running trial, once it has completed the step."""
        for path in cls.workspace.files(f"rank-{rank:05d}.jsonl"):
            lines = records(path)
            if json.loads((path.parent / "trial.json").read_text())["arm"] == arm and any(line.get("step") == step for line in lines
                                                                                         if line["t"] == "step"):
                return next(line["pid"] for line in lines if line["t"] == "hello")
        return None

    @classmethod
    def launch_of(cls, arm):
        return next((json.loads(path.read_text()) for path in cls.workspace.files("launch.json") if cls.workspace.trial_of(path)["arm"] == arm), None)

    @classmethod
    def break_next(cls, waiting):
        """Breaks the arm of `waiting` whose trial runs, waits for its end, and returns the arm with how long that took."""
        arm, pid = wait_for(lambda: next(((arm, pid) for arm in waiting if (pid := cls.rank_past_step(arm, BROKEN[arm][0], 4))), None), LIMIT_S,
                            f"one of {waiting} past step 4")
        broken_at = time.monotonic()
        os.kill(pid, BROKEN[arm][1])
        wait_for(lambda: cls.launch_of(arm), LIMIT_S, f"the end of {arm}")
        return arm, time.monotonic() - broken_at

    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.ended_after_s = {}
        with cls.workspace.running("run", cls.workspace.write_sweep(SWEEP)) as controller:
            while waiting := set(BROKEN) - set(cls.ended_after_s):
                arm, duration_s = cls.break_next(waiting)
                cls.ended_after_s[arm] = duration_s
            cls.status = controller.wait(timeout=LIMIT_S)
        cls.failures = {arm: row for arm, *row in cls.workspace.rows("SELECT arm, kind, rank, stage, step, message FROM failures")}

    def test_the_ledger_names_the_rank_that_failed_with_kind_stage_and_step(self):
        self.assertEqual(set(self.failures), set(BROKEN))
        for arm, (broken, how) in BROKEN.items():
            kind, rank, stage, step, message = self.failures[arm]
            with self.subTest(arm=arm, message=message):
                self.assertEqual((kind, rank), ("crashed" if how == signal.SIGKILL else "timeout", broken))
                self.assertIn(stage, ("warm", "steady"))
                self.assertGreaterEqual(step, 4)

    def test_the_message_says_what_happened(self):
        self.assertIn("SIGKILL", self.failures["moe_act"][4])
        self.assertIn("rank 5 on", self.failures["moe"][4])
        self.assertIn("no sign of life", self.failures["moe"][4])

    def test_no_trial_waits_for_its_own_deadline(self):
        for arm in BROKEN:
            launch = self.launch_of(arm)
            self.assertEqual(launch["end"], "rank_failed", launch)
            self.assertLess(self.ended_after_s[arm], TIMEOUT_S)
        self.assertEqual(self.launch_of("moe_act")["cause_rank"], 3)

    def test_the_report_shows_rank_and_reason(self):
        report = self.workspace.report("md")
        for arm, (_, _, _, _, message) in self.failures.items():
            self.assertIn(message[:40], report, arm)

    def test_the_sweep_goes_on_and_leaves_nothing_behind(self):
        self.assertEqual(self.status, 4, self.workspace.log())
        self.assertEqual(self.workspace.processes(), {})
        outcomes = dict(self.workspace.rows("SELECT subject, outcome FROM verdict WHERE scope = 'arm'"))
        self.assertEqual(outcomes, {"[]": "pass", "mla_up_proj": "pass", **dict.fromkeys(BROKEN, "fail")})
