"""meta, which has shapes alone, allocates what cpu does: the same peaks in every phase, the same bytes in between, the same attribution.

The records of both are equal but for what NOT_COMPARED names, and for one thing that moves bytes: meta has no router scores, so its experts take
turns as with moe_router_force_load_balancing. The cases here switch that on; without it only the rows that a rank receives differ, and what they size.
"""
import unittest

from cpu_meta import CLOCKS, differences
from trainer_runs import TINY_TRAINING, Run, dropout_fields, labels_of, tiny_presets, trial_document

FULL = {"modules": None, "granularity": "full", "recompute": {"recompute_method": "uniform", "recompute_num_layers": 1}}
BALANCED = {"moe_router_force_load_balancing": True}
TWO_RANKS = {"preset": "moonlight_tiny", "world_size": 2, "expert_parallel": 2, "training": {**TINY_TRAINING, "global_batch_size": 4}}


def run(device, modules, **layout):
    return Run(trial_document(modules, device=device, **layout)).require_success()


class CpuMetaTest(unittest.TestCase):
    maxDiff = None

    def check(self, **layout):
        cpu, meta = run("cpu", **layout), run("meta", **layout)
        for rank, (ours, theirs) in enumerate(zip(meta.ranks, cpu.ranks)):
            self.assertEqual(len(theirs["step"]), layout["training"]["train_iters"])
            for kind in ("model", "step"):
                self.assertEqual(differences(theirs[kind], ours[kind]), {}, f"{kind} records of rank {rank}")
            sent = [[{key: value for key, value in row.items() if key not in CLOCKS} for step in records["step"] for row in step["communication"]
                     if row["axis"] == "cp"] for records in (theirs, ours)]
            self.assertEqual(*sent, f"messages of rank {rank}")
            if layout.get("parallel", {}).get("context_parallel_size", 1) > 1:
                self.assertTrue(sent[0], "nothing was sent on axis cp")

    def check_arms(self, preset, arms, attention, dropout):
        fields = {**dropout_fields(dropout), **(BALANCED if "moe" in labels_of(preset) else {})}
        layout = {"preset": preset, "attention": attention, "fields": fields, "world_size": 1, "expert_parallel": 1, "training": TINY_TRAINING}
        for arm in arms:
            with self.subTest(attention=attention, dropout=dropout, preset=preset, **arm):
                self.check(**arm, **layout)

    def test_every_arm_of_every_tiny_preset_is_equal_on_both(self):
        for preset in tiny_presets():
            arms = [{"modules": []}, *({"modules": [label]} for label in labels_of(preset)), FULL]
            self.check_arms(preset, arms, "fused", 0.0)
            self.check_arms(preset, arms, "unfused", 0.1)

    def test_the_other_pairs_of_backend_and_dropout_are_equal_on_both_without_recompute_and_with_core_attn(self):
        for preset in tiny_presets():
            arms = [{"modules": []}, {"modules": ["core_attn"]}]
            self.check_arms(preset, arms, "fused", 0.1)
            self.check_arms(preset, arms, "unfused", 0.0)

    def test_tensor_parallel_ranks_are_equal_on_both(self):
        layout = {**TWO_RANKS, "expert_parallel": 1, "parallel": {"tensor_model_parallel_size": 2, "sequence_parallel": True}}
        for modules in ([], ["mla_up_proj"], ["moe", "layernorm"]):
            with self.subTest(modules=modules):
                self.check(modules=modules, fields=BALANCED, **layout)

    def test_pipeline_ranks_are_equal_on_both(self):
        layout = {"preset": "llama3_tiny", "world_size": 2, "expert_parallel": 1, "training": {**TINY_TRAINING, "global_batch_size": 8},
                  "parallel": {"pipeline_model_parallel_size": 2}}
        for arm in ({"modules": []}, {"modules": ["mlp"]}, FULL):
            with self.subTest(**arm):
                self.check(**arm, **layout)

    def test_two_ranks_that_share_the_experts_are_equal_on_both(self):
        for modules in ([], ["moe"], ["layernorm", "moe_act"]):
            with self.subTest(modules=modules):
                self.check(modules=modules, fields=BALANCED, **TWO_RANKS)

    def test_context_parallel_ranks_are_equal_on_both(self):
        for preset, way, modules in (("llama3_tiny", "p2p", ["core_attn"]), ("moonlight_tiny", "all_gather", ["core_attn", "mla_up_proj"]),
                                     ("qwen3_next_tiny", "p2p", ["gdn_norm_out"])):
            for arm in ([], modules):
                with self.subTest(preset=preset, way=way, modules=arm):
                    fields = {**dropout_fields(0.1), **(BALANCED if "moe" in labels_of(preset) else {})}
                    self.check(modules=arm, preset=preset, fields=fields, world_size=2, expert_parallel=1, training=TINY_TRAINING,
                               parallel={"context_parallel_size": 2, "cp_comm_type": way})

    def test_unforced_routing_differs_in_who_receives_the_rows_not_in_their_number(self):
        cpu, meta = run("cpu", [], **TWO_RANKS), run("meta", [], **TWO_RANKS)
        rows = [[step["tokens_received"] for rank in of_device.ranks for step in rank["step"]] for of_device in (cpu, meta)]
        self.assertNotEqual(*rows)
        self.assertEqual(*(sum(map(sum, of_device)) for of_device in rows))


if __name__ == "__main__":
    unittest.main()
