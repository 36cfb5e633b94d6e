"""One tiny sweep a model family, each run end to end by the real programs; and wrong combinations, refused before anything is launched."""
import pathlib
import unittest

from workspace import ROOT, Workspace

SWEEPS = sorted((ROOT / "sweeps/families").glob("*.yaml"))
# Arms of each family's labels, in the order of Megatron Core's list; unions and full recompute follow.
LABELS = {
    "llama3": {"core_attn", "mlp"},
    "moonlight": {"core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"},
    "deepseek_v3": {"core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"},
    "nemotron_3_nano": {"core_attn", "layernorm", "moe_act", "mlp", "moe", "shared_experts"},
    "qwen3_next": {"core_attn", "layernorm", "moe_act", "moe", "shared_experts", "gdn_norm_out"},
}
FULL = {"full:block:1", "full:uniform:1"}
# family's sweep, an arm that Megatron Core refuses there, the rule
REFUSED = [
    ("llama3", "moe_act", "L2"), ("llama3", "mla_up_proj", "L3"), ("llama3", "gdn_norm_out", "L4"),
    ("moonlight", "gdn_norm_out", "L4"), ("nemotron_3_nano", "mla_up_proj", "L3"), ("nemotron_3_nano", "gdn_norm_out", "L4"),
    ("qwen3_next", "mla_up_proj", "L3"),
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
    def test_a_label_without_its_boundary_is_refused_before_launch_with_the_rules_id(self):
        for sweep, label, rule in REFUSED:
            with self.subTest(sweep=sweep, label=label):
                workspace = Workspace(self)
                result = workspace.rematch("plan", ROOT / f"sweeps/families/{sweep}.yaml", "--set", f"recompute.labels=[{label}]",
                                           "--set", "recompute.sets=[]", "--set", "recompute.full=[]")
                self.assertIn(rule, result.stdout + result.stderr)

    def test_moe_act_without_grouped_experts_is_refused(self):
        workspace = Workspace(self)
        result = workspace.rematch("plan", ROOT / "sweeps/families/moonlight.yaml", "--set", "model.moe_grouped_gemm=false",
                                   "--set", "recompute.labels=[moe_act]")
        self.assertIn("L2", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
