"""Live bytes by role and region: they add up to the peak, the control's bound each label exactly, cpu and meta agree, and out of memory has them."""
import unittest

import label_formulas
import persistent_bytes
from recompute_gate_test import LABELS, UNIONS
from trainer_runs import Run, trial_document

NO_LABEL_LOWERS = ("grad_sync", "optimizer_init", "optimizer")


def total(attribution):
    return sum(part["bytes"] for part in attribution)


def peak(step):
    return max(phase["peak_allocated_bytes"] for phase in step["phases"].values())


def role(attribution, name):
    return total(part for part in attribution if part["role"] == name)


def in_regions_of(attribution, labels):
    return total(part for part in attribution if set(part["region"].split("/")) & set(labels))


class BoundsOfTheLabels:
    """The cases, over one layout. The peak of its steps sits at the loss, where every layer's activations are held as they are at the end of
    forward; step 0, whose peak is the optimizer's, is left out."""
    layout = {}

    @classmethod
    def setUpClass(cls):
        cls.document = trial_document([], **cls.layout)
        cls.control = Run(cls.document).require_success()
        cls.steps = [[step for step in rank["step"] if step["step"] > 0] for rank in cls.control.ranks]

    def test_the_parts_add_up_to_the_peak_of_every_step(self):
        for rank in self.control.ranks:
            for step in rank["step"]:
                self.assertEqual(total(step["peak_attribution"]), peak(step))
                keys = [(part["role"], part["region"]) for part in step["peak_attribution"]]
                self.assertEqual(len(keys), len(set(keys)))

    def test_the_peak_is_at_the_loss(self):
        for steps in self.steps:
            for step in steps:
                self.assertEqual(step["phases"]["backward"]["peak_allocated_bytes"], peak(step))
                self.assertGreater(role(step["peak_attribution"], "logits_and_loss"), 0)

    def test_the_controls_attribution_is_what_each_label_and_union_drops_to_the_byte(self):
        for modules in LABELS + UNIONS:
            arm = Run(trial_document(modules, **self.layout)).require_success()
            for rank, (ours, theirs) in enumerate(zip(arm.ranks, self.steps)):
                for control_step in theirs:
                    step = ours["step"][control_step["step"]]
                    with self.subTest(modules="+".join(modules), rank=rank, step=step["step"]):
                        bound = in_regions_of(control_step["peak_attribution"], modules)
                        self.assertEqual(bound, control_step["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"])
                        shapes = label_formulas.Shapes(self.document, step["tokens_received"])
                        self.assertEqual(bound, label_formulas.dropped_bytes(modules, shapes))
                        self.assertEqual(in_regions_of(step["peak_attribution"], modules), 0, "the arm still holds it")

    def test_parameters_gradients_and_optimizer_state_are_what_their_sizes_say(self):
        document = self.document
        data_parallel = document["parallel"]["world_size"]
        expert_data_parallel = data_parallel // document["parallel"]["expert_model_parallel_size"]
        for rank, steps in zip(self.control.ranks, self.steps):
            elements = rank["model"][0]["num_parameters_local"]
            for step in steps:
                parts = step["peak_attribution"]
                router_counts = persistent_bytes.PersistentBytes(document, rank=0).router_counts()
                self.assertEqual(role(parts, "parameters"), role(parts, "gradients") + router_counts, "both buffers are bf16 and padded alike")
                self.assertAlmostEqual(role(parts, "gradients") / (2 * elements), 1, delta=0.01)
                # Main weights and two moments in fp32; dense ones shared by all ranks, the experts' by fewer.
                # Each parameter's piece is a tensor of its own, rounded up to 512 bytes, which is a few per cent at these sizes.
                self.assertLess(role(parts, "optimizer_state"), 12 * elements / expert_data_parallel * 1.05)
                self.assertGreater(role(parts, "optimizer_state"), 12 * elements / data_parallel * 0.99)


class TwoRanksTest(BoundsOfTheLabels, unittest.TestCase):
    layout = {}


class OneRankWithMicroBatchesTest(BoundsOfTheLabels, unittest.TestCase):
    layout = {"world_size": 1, "expert_parallel": 1, "fields": {"q_lora_rank": 48},
              "training": {"micro_batch_size": 2, "global_batch_size": 4, "train_iters": 2}}


class PhasesTest(unittest.TestCase):
    def test_a_peak_of_the_optimizer_holds_nothing_that_a_label_drops(self):
        step = Run(trial_document([])).require_success().ranks[0]["step"][0]
        binding = max(step["phases"], key=lambda phase: step["phases"][phase]["peak_allocated_bytes"])
        self.assertIn(binding, NO_LABEL_LOWERS)
        self.assertEqual(role(step["peak_attribution"], "activations"), 0)
        self.assertGreater(role(step["peak_attribution"], "gradients"), 2 * role(step["peak_attribution"], "parameters"))

    def test_a_peak_in_the_exchange_of_tokens_shows_its_buffers(self):
        """A large hidden size, a small vocabulary: the peak moves from the loss into an MoE layer's backward."""
        layout = {"fields": {"num_layers": 1, "moe_layer_freq": [1], "padded_vocab_size": 16, "moe_router_topk": 6}, "training": {"seq_length": 256}}
        steps = [step for rank in Run(trial_document([], **layout)).require_success().ranks for step in rank["step"]]
        self.assertGreater(max(role(step["peak_attribution"], "communication") for step in steps), 0)
        self.assertGreater(max(role(step["peak_attribution"], "temporaries") for step in steps), 0)


class MetaDeviceTest(unittest.TestCase):
    def test_shapes_alone_give_the_attribution_of_the_cpu_where_routing_is_alike(self):
        dense = {"moe_layer_freq": [0, 0, 0]}
        # On one rank every choice is a row of its own experts, whatever the routing.
        for fields, modules in ((dense, []), (dense, ["layernorm", "mlp"]), ({}, []), ({}, ["moe_act"])):
            with self.subTest(fields=fields, modules=modules):
                cpu, meta = (Run(trial_document(modules, device=device, world_size=1, expert_parallel=1, fields=fields)).require_success()
                             for device in ("cpu", "meta"))
                for ours, theirs in zip(meta.ranks[0]["step"], cpu.ranks[0]["step"]):
                    self.assertEqual(ours["peak_attribution"], theirs["peak_attribution"])


class OutOfMemoryTest(unittest.TestCase):
    def test_the_parts_add_up_to_what_was_allocated_when_the_request_failed(self):
        layout = {"world_size": 1, "expert_parallel": 1, "training": {"seq_length": 1024}, "fields": {"num_moe_experts": 32}}
        free = Run(trial_document([], **layout)).require_success()
        built = free.ranks[0]["model"][0]["phases"]["build"]["peak_reserved_bytes"]
        for limit, phase in ((built + (2 << 20), "forward"), (1 << 20, "build")):
            oom = Run(trial_document([], memory_limit_bytes=limit, **layout)).ranks[0]["oom"][0]
            self.assertEqual(oom["phase"], phase)
            self.assertEqual(total(oom["attribution"]), oom["allocated_bytes"])
            self.assertEqual(role(oom["attribution"], "activations") > 0, phase == "forward")


if __name__ == "__main__":
    unittest.main()
