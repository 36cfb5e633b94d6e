"""meta, which has shapes alone, allocates what cpu does: the same peaks in every phase, the same bytes in between, the same attribution.

The records of both are equal but for what NOT_COMPARED names, and for one thing that moves bytes: meta has no router scores, so its experts take
turns as with moe_router_force_load_balancing. The cases here switch that on; without it only the rows that a rank receives differ, and what they size.
"""
import unittest

import label_formulas
from cpu_meta import BALANCED, CLOCKS, balanced, differences
from label_formulas import Shapes
from trainer_runs import TINY_TRAINING, Run, dropout_fields, labels_of, run_batch, tiny_presets, trial_document

FULL = {"modules": None, "granularity": "full", "recompute": {"recompute_method": "uniform", "recompute_num_layers": 1}}
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
        fields = {**dropout_fields(dropout), **balanced(labels_of(preset))}
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
                    fields = {**dropout_fields(0.1), **balanced(labels_of(preset))}
                    self.check(modules=arm, preset=preset, fields=fields, world_size=2, expert_parallel=1, training=TINY_TRAINING,
                               parallel={"context_parallel_size": 2, "cp_comm_type": way})

    def test_unforced_routing_differs_by_the_bytes_of_the_rows_that_a_rank_receives_and_by_nothing_else(self):
        """One micro-batch a step, so that the rows of the record are those of the peak, which is at the end of forward. What a row keeps: the
        formula of the label moe."""
        rows_of_all = []
        for preset in ("moonlight_tiny", "nemotron_3_nano_tiny", "qwen3_next_tiny"):
            documents = [trial_document([], device=device, **{**TWO_RANKS, "preset": preset}) for device in ("cpu", "meta")]
            cpu, meta = (run_batch([document])[0] for document in documents)
            for rank, (theirs, ours) in enumerate(zip(cpu.ranks, meta.ranks)):
                for step, (their_step, our_step) in enumerate(zip(theirs["step"], ours["step"])):
                    rows = [of_step["tokens_received"] for of_step in (their_step, our_step)]
                    rows_of_all.append(rows)
                    more = label_formulas.moe(Shapes(documents[0], rows[0], rank)) - label_formulas.moe(Shapes(documents[1], rows[1], rank))
                    with self.subTest(preset=preset, rank=rank, step=step, rows=rows):
                        self.assertEqual(their_step["forward_end_allocated_bytes"] - our_step["forward_end_allocated_bytes"], more)
                        peaks = [{name: peaks["peak_allocated_bytes"] for name, peaks in of_step["phases"].items()} for of_step in (their_step, our_step)]
                        self.assertEqual({name: peak - peaks[1][name] for name, peak in peaks[0].items()},
                                         {name: more if name in ("forward", "backward") else 0 for name in peaks[0]})
        self.assertTrue(any(theirs != ours for theirs, ours in rows_of_all))
        self.assertEqual(*(sum(sum(rows[side]) for rows in rows_of_all) for side in (0, 1)))


if __name__ == "__main__":
    unittest.main()
