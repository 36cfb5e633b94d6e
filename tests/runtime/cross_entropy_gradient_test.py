"""features.cross_entropy_gradient: in_place trains to the bit as fp32 does, and holds what its formula says, on cpu and on meta."""
import unittest

import label_formulas
from cpu_meta_test import BALANCED, differences
from trainer_runs import Run, trial_document

IN_PLACE = {"cross_entropy_gradient": "in_place"}
# The loss's tensors are the largest by far.
FIELDS = {"padded_vocab_size": 2048, **BALANCED}
ALONE = {"world_size": 1, "expert_parallel": 1, "training": {"global_batch_size": 2}, "fields": FIELDS}
SPLIT = {"world_size": 2, "expert_parallel": 1, "fields": FIELDS, "training": {"global_batch_size": 2},
         "parallel": {"tensor_model_parallel_size": 2, "sequence_parallel": True}}
SPLIT_ROWS_WHOLE = {**SPLIT, "preset": "llama3_tiny", "fields": {}, "parallel": {"tensor_model_parallel_size": 2}}
PIPELINE = {"preset": "llama3_tiny", "world_size": 2, "expert_parallel": 1, "training": {"global_batch_size": 8},
            "parallel": {"pipeline_model_parallel_size": 2}}


def run(layout, features, device="cpu"):
    return Run(trial_document([], features=features, device=device, **layout)).require_success()


def one_micro_batch(layout):
    return {**layout, "training": {"global_batch_size": 1}}


class CrossEntropyGradientTest(unittest.TestCase):
    def test_losses_and_every_gradient_equal_those_of_fp32_to_the_bit(self):
        for layout in (ALONE, SPLIT, SPLIT_ROWS_WHOLE, PIPELINE):
            with self.subTest(**layout):
                wide, in_place = run(layout, {}), run(layout, IN_PLACE)
                self.assertEqual(in_place.loss_bits(), wide.loss_bits())
                self.assertTrue(all(wide.gradients))
                self.assertEqual(in_place.gradients, wide.gradients)

    def test_the_loss_holds_the_logits_alone_and_no_second_tensor_of_their_size_is_made(self):
        for layout in (one_micro_batch(ALONE), one_micro_batch(SPLIT)):
            for device in ("cpu", "meta"):
                with self.subTest(device=device, **layout):
                    wide, in_place = run(layout, {}, device), run(layout, IN_PLACE, device)
                    ours, theirs = (label_formulas.Shapes(trial_document([], features=features, **layout), []) for features in (IN_PLACE, {}))
                    wanted = {name: formula(theirs) - formula(ours)
                              for name, formula in (("held", label_formulas.logits_kept), ("forward", label_formulas.head_forward_peak),
                                                    ("backward", label_formulas.head_backward_peak))}
                    bf16_logits, scales = label_formulas.logits(ours, label_formulas.BF16), label_formulas.made_for_the_loss(ours)
                    self.assertEqual(wanted["held"], bf16_logits - scales)
                    # Beside each other in fp32 are 2 + 4 bytes a logit, in place 2.
                    self.assertGreater(wanted["forward"], 0.99 * (2 * bf16_logits - scales))
                    for in_place_rank, wide_rank in zip(in_place.ranks, wide.ranks):
                        step, wide_step = in_place_rank["step"][-1], wide_rank["step"][-1]
                        saved = {phase: wide_step["phases"][phase]["peak_allocated_bytes"] - step["phases"][phase]["peak_allocated_bytes"]
                                 for phase in ("forward", "backward")}
                        saved["held"] = wide_step["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"]
                        self.assertEqual(saved, wanted)

    def test_cpu_and_meta_record_the_same(self):
        for layout in (ALONE, SPLIT, one_micro_batch(ALONE)):
            with self.subTest(**layout):
                cpu, meta = run(layout, IN_PLACE), run(layout, IN_PLACE, "meta")
                for ours, theirs in zip(meta.ranks, cpu.ranks):
                    self.assertEqual(differences(theirs["step"], ours["step"]), {})


if __name__ == "__main__":
    unittest.main()
