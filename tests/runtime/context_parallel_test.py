"""Context parallelism over real ranks: the losses of one rank, recompute arms equal to their control to the bit, and what is sent by formula."""
import unittest

import context_formulas
import label_formulas
import saved_tensors_test
from trainer_runs import Run, labels_of, trial_document

TRAINING = {"seq_length": 128, "micro_batch_size": 2, "global_batch_size": 4, "train_iters": 5}
# bf16 (relative 2^-9 a rounding) and sums in another order; after five steps at this learning rate losses differ by up to 5e-4 of themselves.
TOLERANCE = 0.002


class ContextParallel:
    preset = ""
    fields = {}
    num_ranks = 2
    way = "p2p"

    @classmethod
    def document(cls, modules, num_ranks=None, **more):
        num_ranks = num_ranks or cls.num_ranks
        return trial_document(modules, preset=cls.preset, fields=cls.fields, world_size=num_ranks, expert_parallel=1, training=TRAINING,
                              parallel={"context_parallel_size": num_ranks, "cp_comm_type": cls.way}, **more)

    @classmethod
    def setUpClass(cls):
        cls.control = Run(cls.document([])).require_success()
        rows = cls.control.ranks[0]["step"][0]["tokens_received"]  # all choices of the local tokens: every rank has all experts
        cls.shapes = context_formulas.ContextShapes(cls.document([]), rows)
        cls.num_micro_batches = TRAINING["global_batch_size"] // TRAINING["micro_batch_size"]

    def per_step(self, counter):
        return {key: count * self.num_micro_batches for key, count in counter.items()}

    check_held_tensors = saved_tensors_test.SavedTensorsTest.check

    def test_every_layer_of_every_rank_holds_its_formula_to_the_byte(self):
        for table in saved_tensors_test.saved_tensors(self.document([])):
            self.check_held_tensors(table, self.shapes, labels_of(self.preset))

    def compare(self, arm):
        self.assertEqual(arm.loss_bits(), self.control.loss_bits())
        for ours, theirs in zip(arm.gradients, self.control.gradients):
            self.assertTrue(theirs)
            self.assertEqual({key for key in theirs if ours.get(key) != theirs[key]}, set(), "gradients that differ")

    def test_losses_are_those_of_one_rank(self):
        alone = Run(self.document([], num_ranks=1)).require_success()
        for ours, theirs in zip(self.control.ranks[0]["step"], alone.ranks[0]["step"]):
            self.assertLess(abs(ours["loss"] - theirs["loss"]) / theirs["loss"], TOLERANCE)
            self.assertLess(abs(ours["grad_norm"] - theirs["grad_norm"]) / theirs["grad_norm"], 0.02)

    def test_every_arm_equals_the_control_to_the_bit_and_replays_its_messages(self):
        labels = labels_of(self.preset)
        arms = [[label] for label in context_formulas.REPLAYED if label in labels] + [labels]
        for modules in arms:
            with self.subTest(modules="+".join(modules)):
                arm = Run(self.document(modules)).require_success()
                self.compare(arm)
                wanted = label_formulas.dropped_bytes(modules, self.shapes)
                for rank, control_rank in zip(arm.ranks, self.control.ranks):
                    for step, control_step in zip(rank["step"], control_rank["step"]):
                        self.check_messages(step, context_formulas.replayed(modules, self.shapes))
                        self.assertEqual(control_step["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"], wanted)

    def test_full_recompute_equals_the_control_to_the_bit_and_replays_all_of_forward(self):
        uniform = {"recompute_method": "uniform", "recompute_num_layers": 1}
        arm = Run(self.document(None, granularity="full", recompute=uniform)).require_success()
        self.compare(arm)
        for rank in arm.ranks:
            for step in rank["step"]:
                self.check_messages(step, context_formulas.forward(self.shapes))

    def test_the_control_replays_nothing(self):
        for rank in self.control.ranks:
            for step in rank["step"]:
                self.check_messages(step, {})

    def check_messages(self, step, replayed):
        self.assertEqual(context_formulas.found(step, "forward"), self.per_step(context_formulas.forward(self.shapes)))
        self.assertEqual(context_formulas.found(step, "backward"), self.per_step(context_formulas.backward(self.shapes)))
        self.assertEqual(context_formulas.found(step, "replay"), self.per_step(replayed))


class DenseInARingTest(ContextParallel, unittest.TestCase):
    preset = "llama3_tiny"


class DenseOverFourRanksTest(ContextParallel, unittest.TestCase):
    preset, num_ranks = "llama3_tiny", 4


class LatentInARingTest(ContextParallel, unittest.TestCase):
    preset = "moonlight_tiny"


class LatentByAllGatherTest(ContextParallel, unittest.TestCase):
    preset, way = "moonlight_tiny", "all_gather"


class GatedDeltaNetTest(ContextParallel, unittest.TestCase):
    preset = "qwen3_next_tiny"


class RefusalsTest(unittest.TestCase):
    def refused(self, wanted, **layout):
        document = trial_document([], world_size=2, expert_parallel=1, parallel={"context_parallel_size": 2}, **layout)
        run = Run(document)
        # What only the model's parts refuse a rank may hear of from the other before it comes to its own refusal.
        self.assertIn(13, run.exit_codes)
        self.assertLessEqual(set(run.exit_codes), {12, 13})
        for piece in wanted:
            self.assertIn(piece, "\n".join(run.logs))

    def test_a_sequence_that_does_not_divide_in_two_chunks_a_rank(self):
        self.refused(["training.seq_length", "multiple of chunks of a rank 2 * context_parallel_size 2", "126"], preset="llama3_tiny",
                     training={"seq_length": 126})

    def test_unfused_attention(self):
        self.refused(["backend.attention", "wanted fused", "unfused"], preset="llama3_tiny", attention="unfused")

    def test_mamba(self):
        self.refused(["context_parallel_size: wanted 1, found 2", "Mamba2"], preset="nemotron_3_nano_tiny")

    def test_key_heads_that_do_not_divide(self):
        self.refused(["linear_num_key_heads", "multiple of context_parallel_size (2)", "found 3"], preset="qwen3_next_tiny",
                     fields={"linear_num_key_heads": 3, "linear_num_value_heads": 6})


if __name__ == "__main__":
    unittest.main()
