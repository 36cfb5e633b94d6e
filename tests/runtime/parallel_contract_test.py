"""The contract of parallel training, layout by layout, on real Gloo ranks: the losses of five steps match the single-rank run's, and in the same
layout every label, all labels together and full recompute equal the empty control to the bit, losses and every gradient on every rank, with
dropout on. The work of a layout runs in one process a rank (trial_batch). Expert tensor parallelism has a test of its own."""
import functools
import json
import unittest

import label_formulas
from parallel_layout import ParallelLayout
from persistent_bytes import PersistentBytes
from trainer_runs import dropout_fields, labels_of, run_batch, trial_document

TRAINING = {"seq_length": 64, "micro_batch_size": 1, "global_batch_size": 8}
NUM_LOSSES = 5
# bf16 partial sums are rounded once a rank (2^-8 relative on single elements) and summed in another order; over the mean of 512 tokens' losses that
# averages out. A wrong shard, a lost gradient or a token that goes astray moves the loss by more within five steps.
TOLERANCE = 0.002
LEARNING_RATES = {"qwen3_next_tiny": 3e-3}  # else 1e-3: five steps must move the loss by more than the tolerance
LIMIT_S = 280  # of all trials of a layout
SCALAR_BYTES = 512


def axis(**degrees):
    names = {"tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size", "vpp": "virtual_pipeline_model_parallel_size",
             "cp": "context_parallel_size", "ep": "expert_model_parallel_size", "etp": "expert_tensor_parallel_size"}
    return {names.get(name, name): degree for name, degree in degrees.items()}


DENSE, MLA, HYBRID, GDN = "llama3_tiny", "moonlight_tiny", "nemotron_3_nano_tiny", "qwen3_next_tiny"


def optimizer_of(preset):
    return {"lr": LEARNING_RATES.get(preset, 1e-3)}


class Layout:
    """The cases of one layout. Subclasses say which, and for which presets."""
    world_size = 2
    parallel = {}
    presets = []
    fields = {}  # by preset
    features = {}

    def document(self, preset, modules, **changes):
        fields = {**self.fields.get(preset, {}), **changes.pop("fields", {})}
        return trial_document(modules, preset=preset, fields=fields, world_size=self.world_size, expert_parallel=1, parallel=self.parallel,
                              features=self.features, **changes)

    def arms(self, preset):
        """Name -> document, with dropout and two steps; the control first."""
        changes = lambda: {"fields": dropout_fields(0.1), "training": {**TRAINING, "train_iters": 2}}
        labels = [label for label in labels_of(preset) if label != "shared_experts" or not self.features.get("moe_shared_expert_overlap")]
        arms = {"[]": self.document(preset, [], **changes())}
        for modules in [[label] for label in labels] + [labels]:
            arms["+".join(modules)] = self.document(preset, modules, **changes())
        for method, count in (("uniform", 1), ("uniform", 2), ("block", 1)):
            full = {"recompute_method": method, "recompute_num_layers": count}
            arms[f"full:{method}:{count}"] = self.document(preset, None, granularity="full", recompute=full, **changes())
        return arms

    def test_losses_match_the_single_rank_and_every_arm_equals_its_control_to_the_bit(self):
        for preset in self.presets:
            arms = self.arms(preset)
            plain = self.document(preset, [], training={**TRAINING, "train_iters": NUM_LOSSES}, optimizer=optimizer_of(preset))
            plain_records, *records = run_batch([plain, *arms.values()], limit_s=LIMIT_S)
            with self.subTest(preset=preset):
                self.check_losses(plain_records, preset)
                self.check_routing(plain_records)
                self.check_persistent_bytes(plain_records, plain)
            control = records[0]
            self.check_that_the_control_replays_nothing(control, preset)
            for name, arm in list(zip(arms, records))[1:]:
                with self.subTest(preset=preset, arm=name):
                    self.check_equal(arm, control)
                    self.check_replays(arm, name)
                    self.check_dropped_bytes(arm, control, arms[name])

    def check_losses(self, records, preset):
        wanted = single_rank_losses(preset, json.dumps(self.fields.get(preset, {})))
        for rank in records.ranks:
            losses = [step["loss"] for step in rank["step"]]
            self.assertEqual(len(losses), NUM_LOSSES)
            self.assertGreater(max(abs(loss / wanted[0] - 1) for loss in wanted), TOLERANCE, "training moves the loss by less than the tolerance")
            for step, (ours, theirs) in enumerate(zip(losses, wanted)):
                self.assertAlmostEqual(ours / theirs, 1, delta=TOLERANCE, msg=f"step {step}: {losses} against {wanted}")

    def check_routing(self, records):
        if self.parallel.get("expert_model_parallel_size", 1) > 1:
            received = {tuple(rank["step"][0]["tokens_received"]) for rank in records.ranks}
            self.assertGreater(len(received), 1, "routing is even, so uneven exchanges were not tried")

    def check_persistent_bytes(self, records, document):
        """Facts of Megatron's table, tensor by tensor: parameters, gradients, optimizer state, gradient copies; and the sum of the step's losses
        where the head is."""
        for rank, record in enumerate(records.ranks):
            formula = PersistentBytes(document, rank)
            has_head = any(last for _, _, last in ParallelLayout(document, rank).chunks())
            wanted = formula.built() + formula.late() + formula.grad_copies() + SCALAR_BYTES * has_head
            self.assertEqual({step["end_allocated_bytes"] for step in record["step"]}, {wanted}, f"rank {rank}")

    def check_that_the_control_replays_nothing(self, control, preset):
        for rank in control.ranks:
            for step in rank["step"]:
                self.assertEqual([count for count in step["communication"] if count["pass"] == "replay"], [])
                self.assertEqual(sum(step["replays"].values()), 0)
        available = {label for rank in control.ranks for label, count in rank["model"][0]["sites_available"].items() if count}
        self.assertLessEqual({label for label in labels_of(preset) if label != "shared_experts"}, available)

    def check_equal(self, arm, control):
        self.assertEqual(arm.loss_bits(), control.loss_bits())
        for ours, theirs in zip(arm.ranks, control.ranks):
            self.assertEqual([step["aux_losses"] for step in ours["step"]], [step["aux_losses"] for step in theirs["step"]])
            self.assertEqual([step["grad_norm"] for step in ours["step"]], [step["grad_norm"] for step in theirs["step"]])
        for ours, theirs in zip(arm.gradients, control.gradients):
            self.assertTrue(theirs)
            self.assertEqual({key for key in theirs if ours.get(key) != theirs[key]}, set(), "gradients that differ")

    def check_dropped_bytes(self, arm, control, document):
        """At the end of forward each rank holds as much less as the labels' formulas say. Where several micro-batches are in flight their rows
        differ, and the record has those of the last."""
        modules = document["recompute"]["recompute_modules"]
        if modules is None or document["parallel"]["pipeline_model_parallel_size"] > 1:
            return
        for rank, (ours, theirs) in enumerate(zip(arm.ranks, control.ranks)):
            for step, control_step in zip(ours["step"], theirs["step"]):
                shapes = label_formulas.Shapes(document, step["tokens_received"], rank)
                dropped = control_step["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"]
                self.assertEqual(dropped, label_formulas.dropped_bytes(modules, shapes), f"rank {rank}")

    def check_replays(self, arm, name):
        labels = ["full"] if name.startswith("full") else name.split("+")
        for label in labels:
            self.assertGreater(sum(rank["model"][0]["sites"].get(label, 0) for rank in arm.ranks), 0, label)
        for rank in arm.ranks:
            for step in rank["step"]:
                for label in labels:
                    self.assertEqual(step["replays"].get(label, 0) > 0, rank["model"][0]["sites"].get(label, 0) > 0, label)


@functools.cache
def single_rank_losses(preset, fields_json):
    document = trial_document([], preset=preset, fields=json.loads(fields_json), world_size=1, expert_parallel=1,
                              training={**TRAINING, "train_iters": NUM_LOSSES}, optimizer=optimizer_of(preset))
    records, = run_batch([document], limit_s=LIMIT_S)
    return [step["loss"] for step in records.ranks[0]["step"]]


class DataParallelTest(Layout, unittest.TestCase):
    presets = [DENSE]


class TensorParallelTest(Layout, unittest.TestCase):
    parallel = axis(tp=2)
    presets = [DENSE]  # a mixture of experts wants sequence parallelism


class SequenceParallelTest(Layout, unittest.TestCase):
    parallel = axis(tp=2, sequence_parallel=True)
    presets = [DENSE, MLA, HYBRID, GDN]


class ExpertParallelTest(Layout, unittest.TestCase):
    parallel = axis(ep=2)
    presets = [MLA, HYBRID, GDN]


class ExpertAndDataParallelTest(Layout, unittest.TestCase):
    """EP 2 over DP 4: each expert is on two ranks."""
    world_size = 4
    parallel = axis(ep=2)
    presets = [MLA]


class ContextParallelRingTest(Layout, unittest.TestCase):
    parallel = axis(cp=2)
    presets = [DENSE, MLA, GDN]


class ContextParallelAllGatherTest(Layout, unittest.TestCase):
    parallel = axis(cp=2, cp_comm_type="all_gather")
    presets = [DENSE, MLA]


class TensorTimesExpertTest(Layout, unittest.TestCase):
    world_size = 4
    parallel = axis(tp=2, ep=2, sequence_parallel=True)
    presets = [MLA, GDN]


class ContextTimesTensorTest(Layout, unittest.TestCase):
    world_size = 4
    parallel = axis(tp=2, cp=2, sequence_parallel=True)
    presets = [MLA, GDN]
    fields = {GDN: {"linear_num_key_heads": 4, "linear_num_value_heads": 8}}  # one a rank at least


class EightRanksOfTheGuideTest(Layout, unittest.TestCase):
    """Moonlight's layout in the guide: TP 2, EP 8 over DP 4, with shared-expert overlap. Each expert is on one rank, dense parameters are on four."""
    world_size = 8
    parallel = axis(tp=2, ep=8, sequence_parallel=True)
    features = {"moe_shared_expert_overlap": True}
    presets = [MLA]


class PipelineParallelTest(Layout, unittest.TestCase):
    """1F1B of two ranks; global counts of the load-balancing loss with two micro-batches in flight (qwen3_next_tiny)."""
    parallel = axis(pp=2)
    presets = [DENSE, MLA, HYBRID, GDN]
    fields = {MLA: {"num_layers": 4, "moe_layer_freq": [0, 1, 1, 1]}}


class UnevenPipelineTest(Layout, unittest.TestCase):
    """Four ranks with 1, 3, 3 and 1 layers."""
    world_size = 4
    parallel = {**axis(pp=4), "num_layers_in_first_pipeline_stage": 1, "num_layers_in_last_pipeline_stage": 1}
    presets = [DENSE, MLA]
    fields = {DENSE: {"num_layers": 8}, MLA: {"num_layers": 8, "moe_layer_freq": [0] + [1] * 7}}


class PipelineWithEmbeddingAndLossAsLayersTest(Layout, unittest.TestCase):
    """Four ranks with 1, 2, 2 and 1 layers."""
    world_size = 4
    parallel = {**axis(pp=4), "account_for_embedding_in_pipeline_split": True, "account_for_loss_in_pipeline_split": True}
    presets = [HYBRID]


class VirtualPipelineTest(Layout, unittest.TestCase):
    """Two ranks with two chunks each, interleaved."""
    parallel = axis(pp=2, vpp=2)
    presets = [DENSE, MLA, HYBRID, GDN]
    fields = {MLA: {"num_layers": 4, "moe_layer_freq": [0, 1, 1, 1]}, HYBRID: {"num_layers": 8, "hybrid_layer_pattern": "MEM*E-ME"}}


class TensorTimesPipelineTest(Layout, unittest.TestCase):
    world_size = 4
    parallel = axis(tp=2, pp=2, sequence_parallel=True)
    presets = [DENSE, HYBRID]


class PipelineAndExpertParallelTest(Layout, unittest.TestCase):
    """PP 2 over EP 2."""
    world_size = 4
    parallel = axis(pp=2, ep=2)
    presets = [GDN]


if __name__ == "__main__":
    unittest.main()
