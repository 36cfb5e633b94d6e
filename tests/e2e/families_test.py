"""One tiny sweep a model family, each run end to end by the real programs; and wrong combinations, refused before anything is launched."""
import json
import unittest

from workspace import ROOT, Workspace

SWEEPS = sorted((ROOT / "sweeps/families").glob("*.yaml"))
# The arms of one label that each family's sweep must have, no more and no fewer.
LABELS = {
    "llama3": {"core_attn", "mlp"},
    "moonlight": {"core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"},
    "deepseek_v3": {"core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"},
    "nemotron_3_nano": {"core_attn", "layernorm", "moe_act", "mlp", "moe", "shared_experts"},
    "qwen3_next": {"core_attn", "layernorm", "moe_act", "moe", "shared_experts", "gdn_norm_out"},
}
FULL = {"full:block:1", "full:uniform:1"}
# A family's sweep, a label that Megatron Core, or this program (R1), refuses there, the rule, words of its reason, and what else is set.
REFUSED = [
    ("llama3", "moe_act", "L2", "family dense_gqa has no experts", []),
    ("llama3", "mla_up_proj", "L3", "family dense_gqa has none", []),
    ("llama3", "gdn_norm_out", "L4", "family dense_gqa has none", []),
    ("moonlight", "gdn_norm_out", "L4", "family mla_moe has none", []),
    ("nemotron_3_nano", "mla_up_proj", "L3", "family hybrid has none", []),
    ("nemotron_3_nano", "gdn_norm_out", "L4", "family hybrid has none", []),
    ("qwen3_next", "mla_up_proj", "L3", "family gdn_moe has none", []),
    ("moonlight", "moe_act", "L2", "moe_grouped_gemm is not true", ["model.moe_grouped_gemm=false"]),
    ("qwen3_next", "moe_act", "L2", "moe_grouped_gemm is not true", ["model.moe_grouped_gemm=false"]),
    ("qwen3_next", "gdn", "R1", "no model family of this trainer has a unit for it", ["recompute.core_revision=dev"]),
]
# A sweep, a label that its core revision does not know, the revision, and the labels that it knows.
UNKNOWN = [
    ("qwen3_next", "gdn_norm_out", "0.16.1", "known: core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, shared_experts"),
    ("moonlight", "moe_atc", "24bad8e6",
     "did you mean 'moe_act'? Known: core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, shared_experts, gdn_norm_out"),
]


class FamilySweeps(unittest.TestCase):
    def test_every_family_has_a_sweep_and_every_arm_passes(self):
        self.assertEqual({path.stem for path in SWEEPS}, set(LABELS))
        for path in SWEEPS:
            with self.subTest(sweep=path.stem):
                workspace = Workspace(self)
                result = workspace.rematch("run", path)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                outcomes = dict(workspace.rows("SELECT subject, outcome FROM verdict WHERE scope = 'arm'"))
                self.assertEqual(set(outcomes.values()), {"pass"}, result.stdout)
                arms = set(outcomes)
                self.assertLessEqual({"[]"} | LABELS[path.stem] | FULL, arms)
                self.assertEqual({arm for arm in arms if "+" not in arm}, {"[]"} | LABELS[path.stem] | FULL)
                self.every_arm_replays(workspace, arms - {"[]"})

    def every_arm_replays(self, workspace, arms):
        replayed = {arm for (arm,) in workspace.rows("SELECT DISTINCT trial.arm FROM label_count JOIN trial USING (study_id, trial_id) "
                                                   "WHERE count_of = 'replays' AND num > 0")}
        self.assertEqual(replayed, arms)


class Refusals(unittest.TestCase):
    def plan(self, sweep, labels, settings):
        """Without the sweep's unions and with one arm of full recompute, so that something is left to run."""
        settings = [*settings, f"recompute.labels=[{labels}]", "recompute.sets=[]", "recompute.full=block:1"]
        return Workspace(self).rematch("plan", ROOT / f"sweeps/families/{sweep}.yaml", "--json",
                                       *(word for setting in settings for word in ("--set", setting)))

    def test_a_label_without_its_boundary_makes_its_arm_invalid_by_that_rule_and_plans_no_trial_of_it(self):
        for sweep, label, rule, words, settings in REFUSED:
            with self.subTest(sweep=sweep, label=label):
                result = self.plan(sweep, label, settings)
                self.assertEqual(result.returncode, 0, result.stderr)
                study = json.loads(result.stdout)["study"]
                arm = next(arm for arm in study["arms"] if arm["arm"] == label)
                self.assertEqual((arm["status"], arm["rule_ids"]), ("invalid", [rule]))
                self.assertTrue(arm["reason"].startswith(rule + ": "), arm["reason"])
                for wanted in (label, words):
                    self.assertIn(wanted, arm["reason"])
                self.assertEqual({trial["arm"] for trial in study["trials"]}, {"[]", "full:block:1"})

    def test_alone_it_leaves_nothing_to_run_and_the_sweep_is_refused_with_its_reason(self):
        result = Workspace(self).rematch("plan", ROOT / "sweeps/families/llama3.yaml", "--set", "recompute.labels=[moe_act]",
                                         "--set", "recompute.full=[]")
        self.assertEqual(result.returncode, 3)
        self.assertIn("no candidate is left to run; moe_act is invalid (L2: ", result.stderr)

    def test_a_label_that_the_revision_does_not_know_makes_the_whole_sweep_invalid_and_names_those_that_it_knows(self):
        for sweep, label, revision, known in UNKNOWN:
            with self.subTest(sweep=sweep, label=label):
                result = self.plan(sweep, label, [f"recompute.core_revision={revision}"])
                self.assertEqual((result.returncode, result.stdout), (3, ""))
                self.assertIn(f"recompute.labels: L1: '{label}' is not a label of Megatron Core {revision}; {known}\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
