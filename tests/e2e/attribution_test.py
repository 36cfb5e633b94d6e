"""What the peak is made of, from the real trainer to `show` and `plan`: the sums hold, and no arm lowers the peak by more than its bound."""
import json
import unittest

from workspace import TINY_SWEEP, Workspace

SWEEP = TINY_SWEEP.replace("labels: [moe_act, moe]", "labels: [layernorm, moe_act, moe]\n  sets: [[layernorm, moe_act]]")
ARMS = ["layernorm", "moe_act", "moe", "layernorm+moe_act"]


class Attribution(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.sweep = cls.workspace.write_sweep(SWEEP)
        cls.before = cls.workspace.rematch("plan", cls.sweep)
        cls.workspace_made_by_plan = cls.workspace.root.exists()
        cls.result = cls.workspace.rematch("run", cls.sweep)

    def bounds(self):
        document = json.loads(self.workspace.rematch("plan", self.sweep, "--json").stdout)
        return document["upper_bounds"]

    def test_a_plan_without_a_measured_control_bounds_nothing_and_makes_no_workspace(self):
        self.assertEqual(self.before.returncode, 0, self.before.stderr)
        self.assertNotIn("at most -", self.before.stdout)
        self.assertFalse(self.workspace_made_by_plan)

    def test_every_ranks_largest_peak_is_attributed_and_no_other_step(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        sums = self.workspace.rows("SELECT trial_id, rank, source, step, sum(bytes) FROM peak_attribution GROUP BY 1, 2, 3, 4")
        self.assertEqual(len(sums), 2 * (len(ARMS) + 2))
        for trial, rank, source, step, total in sums:
            peaks = self.workspace.rows("SELECT max(peak_allocated_bytes) FROM phase WHERE trial_id = ? AND rank = ? AND source = 'step'", trial, rank)
            at_step = self.workspace.rows("SELECT max(peak_allocated_bytes) FROM phase WHERE trial_id = ? AND rank = ? AND source = ? AND step = ?",
                                          trial, rank, source, step)
            self.assertEqual([(total,)], peaks)
            self.assertEqual([(total,)], at_step)

    def test_the_view_holds_the_hot_ranks_peak_of_each_arm(self):
        peaks = dict(self.workspace.rows("SELECT subject, peak_allocated_bytes FROM verdict WHERE scope = 'arm'"))
        ranks = dict(self.workspace.rows("SELECT subject, hot_rank FROM verdict WHERE scope = 'arm'"))
        for arm, rank, total in self.workspace.rows("SELECT arm, min(rank), sum(bytes) FROM attribution GROUP BY arm"):
            self.assertEqual((total, rank), (peaks[arm], ranks[arm]), arm)

    def test_no_arm_lowers_the_peak_by_more_than_its_bound(self):
        bounds = self.bounds()
        peaks = dict(self.workspace.rows("SELECT subject, peak_allocated_bytes FROM verdict WHERE scope = 'arm'"))
        self.assertEqual(bounds["control"]["allocated_bytes"], peaks["[]"])
        self.assertEqual(set(bounds["upper_bound_bytes"]), set(ARMS))
        for arm, bound in bounds["upper_bound_bytes"].items():
            self.assertGreater(bound, 0, arm)
            self.assertLessEqual(peaks["[]"] - peaks[arm], bound, arm)

    def test_a_union_is_bounded_by_the_union_of_its_regions(self):
        bounds = self.bounds()["upper_bound_bytes"]
        self.assertEqual(bounds["layernorm+moe_act"], bounds["layernorm"] + bounds["moe_act"], "neither lies in the other")

    def test_show_and_plan_say_the_same(self):
        plan = self.workspace.rematch("plan", self.sweep).stdout
        show = json.loads(self.workspace.rematch("show", "[]", "--json").stdout)
        tables = {table["key"]: table["rows"] for table in show["tables"]}
        bounds = {row["label"]: row["upper_bound_bytes"] for row in tables["upper_bounds"]}
        for label in ("layernorm", "moe_act", "moe"):
            self.assertEqual(bounds[label], self.bounds()["upper_bound_bytes"][label])
        self.assertEqual(sum(row["bytes"] for row in tables["peak_attribution"]), self.bounds()["control"]["allocated_bytes"])
        self.assertIn("of the control's", plan)
        self.assertIn("What the peak is made of", self.workspace.rematch("show", "moe").stdout)


if __name__ == "__main__":
    unittest.main()
