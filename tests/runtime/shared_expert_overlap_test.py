"""moe_shared_expert_overlap: the same training, a kept gathered input under sequence parallelism, no region of its own, and what it conflicts with."""
import unittest

import label_formulas
from trainer_runs import Run, trial_document

OVERLAP = {"moe_shared_expert_overlap": True}
SHARDED = {"world_size": 4, "expert_parallel": 2, "parallel": {"tensor_model_parallel_size": 2, "sequence_parallel": True}, "training": {"global_batch_size": 2}}
ALONE = {"world_size": 1, "expert_parallel": 1}


def held(run):
    return [[step["forward_end_allocated_bytes"] for step in rank["step"]] for rank in run.ranks]


class SharedExpertOverlapTest(unittest.TestCase):
    def compare(self, arm, control):
        self.assertEqual(arm.loss_bits(), control.loss_bits())
        self.assertTrue(all(control.gradients))
        self.assertEqual(arm.gradients, control.gradients)

    def test_under_sequence_parallelism_each_layer_keeps_the_gathered_input_and_trains_the_same(self):
        plain, overlapped = (Run(trial_document([], features=features, **SHARDED)).require_success() for features in ({}, OVERLAP))
        self.compare(overlapped, plain)
        document = trial_document([], **SHARDED)
        num_moe_layers = document["model"]["fields"]["moe_layer_freq"][:document["model"]["fields"]["num_layers"]].count(1)
        tokens = document["training"]["seq_length"] * document["training"]["micro_batch_size"]
        gathered = num_moe_layers * label_formulas.tensor(tokens, document["model"]["fields"]["hidden_size"], size=label_formulas.BF16)
        self.assertGreater(gathered, 0)
        for ours, theirs in zip(held(overlapped), held(plain), strict=True):
            self.assertEqual([a - b for a, b in zip(ours, theirs, strict=True)], [gathered] * len(theirs))

    def test_backward_gathers_the_input_once_less_a_layer(self):
        gathers = lambda run: sum(count["num_calls"] for count in run.ranks[0]["step"][0]["communication"]
                                  if (count["axis"], count["pass"], count["operation"]) == ("tp", "backward", "all_gather"))
        plain, overlapped = (Run(trial_document([], features=features, **SHARDED)).require_success() for features in ({}, OVERLAP))
        self.assertEqual(gathers(plain) - gathers(overlapped), len(plain.ranks[0]["step"][0]["tokens_received"]))

    def test_moe_drops_the_gathered_input_too_and_equals_its_control_to_the_bit(self):
        control, arm = (Run(trial_document(modules, features=OVERLAP, **SHARDED)).require_success() for modules in ([], ["moe"]))
        self.compare(arm, control)
        document = trial_document(["moe"], features=OVERLAP, **SHARDED)
        for rank, control_rank in zip(arm.ranks, control.ranks, strict=True):
            for step, control_step in zip(rank["step"], control_rank["step"], strict=True):
                wanted = label_formulas.dropped_bytes(["moe"], label_formulas.Shapes(document, step["tokens_received"]))
                self.assertEqual(control_step["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"], wanted)

    def test_with_one_tensor_parallel_rank_it_changes_nothing_but_the_region(self):
        plain, overlapped = (Run(trial_document([], features=features, **ALONE)).require_success() for features in ({}, OVERLAP))
        self.compare(overlapped, plain)
        self.assertEqual(held(overlapped), held(plain))
        sites = [run.ranks[0]["model"][0]["sites_available"] for run in (overlapped, plain)]
        self.assertIn("shared_experts", sites[1])
        del sites[1]["shared_experts"]
        self.assertEqual(sites[0], sites[1])

    def test_the_label_of_the_region_is_refused_beside_it(self):
        run = Run(trial_document(["shared_experts"], features=OVERLAP, **ALONE))
        self.assertEqual(run.exit_codes, [13])
        self.assertIn("L6", run.logs[0])

    def test_it_is_refused_without_shared_experts(self):
        run = Run(trial_document([], features=OVERLAP, fields={"moe_shared_expert_intermediate_size": 0}, **ALONE))
        self.assertEqual(run.exit_codes, [13])
        self.assertIn("moe_shared_expert_overlap: wanted false", run.logs[0])


if __name__ == "__main__":
    unittest.main()
