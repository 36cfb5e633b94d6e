"""sweeps/capacity.yaml in one block: the control and narrow arms run out of memory, each with its evidence; moe passes; nothing is dressed up."""
import json
import unittest

from workspace import Workspace


# The allocator takes memory in whole segments of at most this, so a request can fail this much before the limit.
SEGMENT_BYTES = 20 << 20


class Capacity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.result = cls.workspace.rematch("run", "sweeps/capacity.yaml", "--set", "measure.blocks=1")
        cls.outcomes = dict(cls.workspace.rows("SELECT subject, outcome FROM verdict WHERE scope = 'arm'"))

    def test_running_out_of_memory_is_a_result_and_not_an_error(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)

    def test_moe_passes_and_the_control_does_not(self):
        self.assertEqual((self.outcomes["moe"], self.outcomes["[]"]), ("pass", "fail"), self.outcomes)
        self.assertGreaterEqual(sum(outcome == "fail" for outcome in self.outcomes.values()), 3, "narrow arms fail as well")

    def test_each_failure_has_stage_rank_and_bytes(self):
        failures = self.workspace.rows("SELECT kind, stage, step, phase, rank, host, requested_bytes, allocated_bytes, reserved_bytes, "
                                       "capacity_bytes FROM failures")
        self.assertGreaterEqual(len(failures), 4)
        for kind, stage, step, phase, rank, host, requested, allocated, reserved, capacity in failures:
            self.assertEqual(kind, "oom")
            self.assertNotIn(None, (stage, step, phase, requested, allocated, reserved, capacity))
            self.assertIn(rank, (0, 1))
            self.assertTrue(host)
            self.assertGreater(requested, 0)
            self.assertLessEqual(allocated, reserved)
            self.assertLessEqual(reserved, capacity)
            self.assertGreater(reserved + requested, capacity - SEGMENT_BYTES, "there was room for it")

    def test_arms_run_out_at_different_places(self):
        places = set(self.workspace.rows("SELECT stage, step, phase FROM failures"))
        self.assertGreaterEqual(len(places), 2, places)

    def test_a_candidate_that_got_further_is_moved_and_not_passed(self):
        furthest = dict(self.workspace.rows("SELECT arm, max(coalesce(step, 0)) FROM failures GROUP BY arm"))
        further = [arm for arm, step in furthest.items() if step > furthest["[]"]]
        self.assertTrue(further, f"no candidate got further than the control: {furthest}")
        for arm in further:
            self.assertEqual(self.outcomes[arm], "fail")
        self.assertIn("moved", self.workspace.report("md"))

    def test_passing_arms_are_set_against_a_reference_that_is_not_the_control(self):
        self.assertIn("reference, not control", self.workspace.report("md"))

    def test_failed_arms_carry_no_figures(self):
        rows = self.workspace.rows("SELECT subject, step_time_ns, tflops_per_rank FROM verdict WHERE scope = 'arm' AND outcome = 'fail'")
        self.assertEqual([row for row in rows if row[1:] != (None, None)], [])

    def test_the_report_is_json_without_nan(self):
        text = self.workspace.rematch("report", "-f", "json").stdout
        json.loads(text, parse_constant=lambda name: self.fail(f"{name} in a JSON report"))
