"""sweeps/parallel on real ranks: with four pipeline stages the hot rank moves from one stage to another, and so does a failure; both ranks are
shown in both arms, and what a step communicated is stored."""
import unittest

from workspace import Workspace

SHORT = ("--set", "training.train_iters=8", "--set", "measure.warmup=3", "--set", "measure.steady_steps=5")


class PipelineSweep:
    sweep = ""

    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.result = cls.workspace.rematch("run", f"sweeps/parallel/{cls.sweep}.yaml", *SHORT)
        cls.outcomes = dict(cls.workspace.rows("SELECT subject, outcome FROM verdict WHERE scope = 'arm'"))
        moved = cls.workspace.rows("SELECT arm, moved, side, rank, pipeline_rank, against_peak_allocated_bytes, peak_allocated_bytes FROM moved_rank")
        cls.moved = {(arm, moved_what, side): rest for arm, moved_what, side, *rest in moved}


class HotRankTest(PipelineSweep, unittest.TestCase):
    sweep = "hot_rank_pp4"

    def test_every_arm_passes(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        self.assertEqual(set(self.outcomes.values()), {"pass"}, self.outcomes)

    def test_the_hot_rank_is_the_first_stage_in_the_control_and_the_last_where_its_layers_keep_little(self):
        for arm in ("mlp", "full:uniform:1"):
            from_rank, from_stage, hot_in_control, of_it_here = self.moved[arm, "hot_rank", "from"]
            to_rank, to_stage, cold_in_control, hot_here = self.moved[arm, "hot_rank", "to"]
            self.assertEqual((from_rank, from_stage, to_rank, to_stage), (0, 0, 3, 3), arm)
            self.assertGreater(hot_in_control, cold_in_control)
            self.assertGreater(hot_here, of_it_here)
        self.assertNotIn(("core_attn", "hot_rank", "from"), self.moved)

    def test_the_report_gives_both_ranks_in_both_arms(self):
        report = self.workspace.report("md")
        self.assertIn("Moved to another rank", report)
        self.assertIn("mlp: the hot rank moved from rank 0 (pipeline rank 0 of 4) to rank 3 (pipeline rank 3 of 4)", report)

    def test_the_messages_between_stages_are_stored_of_every_rank(self):
        rows = self.workspace.rows("SELECT rank, pass, num_calls FROM traffic WHERE axis = 'pp' AND arm = '[]' AND slot = "
                                   "(SELECT min(slot) FROM trial WHERE arm = '[]') AND pass IN ('forward', 'backward')")
        calls = {(rank, of_pass): num_calls for rank, of_pass, num_calls in rows}
        # Eight micro-batches: the ends of the pipeline send or receive, the stages between them do both.
        self.assertEqual(calls, {(rank, of_pass): 8 if rank in (0, 3) else 16 for rank in range(4) for of_pass in ("forward", "backward")})
        self.assertRegex(self.workspace.rematch("show", "mlp").stdout, r"\bpp\b.*\bforward\b")


class FailureTest(PipelineSweep, unittest.TestCase):
    sweep = "oom_moves_pp4"

    def test_both_arms_run_out_of_memory_so_none_fits(self):
        self.assertEqual(self.result.returncode, 5, self.result.stderr)
        self.assertEqual(self.outcomes, {"[]": "fail", "full:block:4": "fail"})

    def test_block_moves_the_failure_from_the_first_stage_to_the_last(self):
        failures = dict(self.workspace.rows("SELECT arm, min(rank) FROM failures WHERE kind = 'oom' GROUP BY arm"))
        self.assertEqual(failures, {"[]": 0, "full:block:4": 3})
        for side, rank in (("from", 0), ("to", 3)):
            moved_rank, stage, peak_in_control, peak_here = self.moved["full:block:4", "failure", side]
            self.assertEqual((moved_rank, stage), (rank, rank))
            self.assertGreater(min(peak_in_control, peak_here), 0)

    def test_it_is_reported_as_moved_and_as_no_pass(self):
        self.assertIn("out-of-memory-moved-to-another-rank, full:block:4: The failure moved from", self.workspace.report("md"))


if __name__ == "__main__":
    unittest.main()
