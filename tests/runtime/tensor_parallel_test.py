"""Tensor and sequence parallelism on two real ranks: the losses of one rank, every arm equal to its control to the bit, bytes and communication by
their formulas."""
import unittest

import label_formulas
from persistent_bytes import PersistentBytes
from saved_tensors_test import SavedTensorsCheck, saved_tensors
from trainer_runs import TINY_TRAINING, Run, dropout_fields, labels_of, tiny_presets, trial_document

BF16, FP32 = 2, 4
SEQUENCE = {"tensor_model_parallel_size": 2, "sequence_parallel": True}
TENSOR = {"tensor_model_parallel_size": 2, "sequence_parallel": False}
# Models without a mixture of experts, which wants sequence parallelism: of each kind of mixer but the gated delta net, whose family has experts
# in every layer.
DENSE = {"llama3_tiny": {}, "moonlight_tiny": {"moe_layer_freq": [0, 0, 0]}, "deepseek_v3_tiny": {"moe_layer_freq": [0, 0, 0]},
         "nemotron_3_nano_tiny": {"hybrid_layer_pattern": "M-M*--"}}
LAYOUTS = [(preset, SEQUENCE, {}) for preset in tiny_presets()] + [(preset, TENSOR, fields) for preset, fields in DENSE.items()]


def document_of(preset, parallel, labels=(), *, fields=None, train_iters=2, **more):
    training = {**TINY_TRAINING, "train_iters": train_iters}
    return trial_document(list(labels) if labels is not None else None, preset=preset, world_size=parallel.get("tensor_model_parallel_size", 1),
                          expert_parallel=1, parallel=parallel, fields=fields, training=training, **more)


def num_parameters(run, rank):
    return run.ranks[rank]["model"][0]["num_parameters_total"]


class LossTest(unittest.TestCase):
    # Products are summed in two parts, each rounded to bf16 (relative 2^-9) before the ranks add them, in every layer and in both directions. A
    # step of lr 1e-3 lowers these losses by 0.3 % or more.
    LOSS_TOLERANCE = 2e-3
    # A norm of gradients, each of which is rounded so.
    NORM_TOLERANCE = 2e-2

    def test_five_steps_on_two_ranks_follow_one_rank(self):
        for preset, parallel, fields in LAYOUTS:
            with self.subTest(preset=preset, **parallel):
                alone = Run(document_of(preset, {}, fields=fields, train_iters=5)).require_success()
                shared = Run(document_of(preset, parallel, fields=fields, train_iters=5)).require_success()
                self.assertEqual(*shared.loss_bits())
                self.assertEqual(num_parameters(shared, 0), num_parameters(alone, 0))
                for ours, theirs in zip(shared.ranks[0]["step"], alone.ranks[0]["step"], strict=True):
                    self.assertAlmostEqual(ours["loss"] / theirs["loss"], 1, delta=self.LOSS_TOLERANCE)
                    self.assertAlmostEqual(ours["grad_norm"] / theirs["grad_norm"], 1, delta=self.NORM_TOLERANCE)
                first, *_, last = alone.ranks[0]["step"]
                self.assertGreater(first["loss"] / last["loss"] - 1, self.LOSS_TOLERANCE, "too little is learnt to tell")

    def test_the_norm_counts_each_parameter_once_without_the_distributed_optimizer_too(self):
        for options in ({"use_distributed_optimizer": False}, {"use_distributed_optimizer": True}):
            alone, shared = (Run(document_of("moonlight_tiny", parallel, optimizer=options, train_iters=1)).require_success().ranks[0]["step"][0]
                             for parallel in ({}, SEQUENCE))
            self.assertAlmostEqual(shared["grad_norm"] / alone["grad_norm"], 1, delta=self.NORM_TOLERANCE)


class RecomputeTest(SavedTensorsCheck, unittest.TestCase):
    """Every label of every family, with dropout, in both layouts: the control's bits, and the bytes of the formulas."""
    UNIONS = [["layernorm", "mla_up_proj"], ["layernorm", "moe_act"], ["moe", "layernorm"]]
    UNIFORM = {"granularity": "full", "recompute": {"recompute_method": "uniform", "recompute_num_layers": 1}}
    DISTRIBUTED = {"granularity": "full", "recompute": {**UNIFORM["recompute"], "distribute_saved_activations": True}}

    def same_bits(self, document, control):
        arm = Run(document).require_success()
        self.assertEqual(arm.loss_bits(), control.loss_bits())
        self.assertEqual([[step["grad_norm"] for step in rank["step"]] for rank in arm.ranks],
                         [[step["grad_norm"] for step in rank["step"]] for rank in control.ranks])
        self.assertTrue(all(control.gradients))
        self.assertEqual(arm.gradients, control.gradients)
        return [rank["step"][-1] for rank in arm.ranks]

    def test_arms_equal_the_control_to_the_bit_and_drop_their_bytes(self):
        for preset, parallel, fields in LAYOUTS:
            fields = {**fields, **dropout_fields(0.1)}
            document = document_of(preset, parallel, fields=fields)
            control = Run(document).require_success()
            steps = [rank["step"][-1] for rank in control.ranks]
            shapes = [label_formulas.Shapes(document, step["tokens_received"]) for step in steps]
            labels = [label for label in labels_of(preset) if control.ranks[0]["model"][0]["sites_available"].get(label)]
            for arm in [[label] for label in labels] + [union for union in self.UNIONS if set(union) <= set(labels)]:
                with self.subTest(preset=preset, arm=arm, **parallel):
                    for ours, theirs, shape in zip(self.same_bits(document_of(preset, parallel, arm, fields=fields), control), steps, shapes):
                        dropped = theirs["forward_end_allocated_bytes"] - ours["forward_end_allocated_bytes"]
                        self.assertEqual(dropped, label_formulas.dropped_bytes(arm, shape))
            with self.subTest(preset=preset, arm="full", **parallel):
                self.check_full(preset, parallel, fields, control, shapes)

    def check_full(self, preset, parallel, fields, control, shapes):
        held = [step["forward_end_allocated_bytes"] for step in
                self.same_bits(document_of(preset, parallel, None, fields=fields, **self.UNIFORM), control)]
        # Between two arms, so that what persists falls out.
        in_control = [rank["step"][-1]["forward_end_allocated_bytes"] for rank in control.ranks]
        self.assertTrue(all(ours < theirs for ours, theirs in zip(held, in_control)))
        if parallel["sequence_parallel"]:
            return
        halved = [step["forward_end_allocated_bytes"] for step in
                  self.same_bits(document_of(preset, parallel, None, fields=fields, **self.DISTRIBUTED), control)]
        for shape, ours, theirs in zip(shapes, halved, held):
            inputs = shape.num_layers * label_formulas.tensor(shape.tokens, shape.f["hidden_size"], size=BF16)
            self.assertEqual(theirs - ours, inputs // 2)

    def test_every_layer_keeps_its_formula_to_the_byte(self):
        for preset, parallel, fields in LAYOUTS:
            for attention in ("fused", "unfused"):
                with self.subTest(preset=preset, attention=attention, **parallel):
                    document = document_of(preset, parallel, fields={**fields, **dropout_fields(0.1)}, attention=attention, train_iters=1)
                    received = [rank["step"][0]["tokens_received"] for rank in Run(document).require_success().ranks]
                    for rank, table in enumerate(saved_tensors(document)):
                        self.check(table, label_formulas.Shapes(document, received[rank]), labels_of(preset))


class CommunicationTest(unittest.TestCase):
    """Of one step of a dense model, by pass and operation: calls and bytes."""
    TOKENS, HIDDEN, LAYERS = 256, 128, 4
    STREAM = TOKENS * HIDDEN * BF16
    STATS = TOKENS * 3 * FP32 * 2
    NORM_GRADS = (2 * LAYERS + 1) * HIDDEN * BF16

    def counts(self, parallel, labels=()):
        document = document_of("llama3_tiny", parallel, labels, train_iters=1)
        ranks = [rank["step"][0]["communication"] for rank in Run(document).require_success().ranks]
        of_rank = [{(count["pass"], count["operation"]): (count["num_calls"], count["bytes"]) for count in rank if count["axis"] == "tp"}
                   for rank in ranks]
        self.assertEqual(*of_rank)
        return of_rank[0]

    def test_sequence_parallelism_gathers_into_column_and_scatters_behind_row_parallel_layers(self):
        pairs = 2 * self.LAYERS  # attention and MLP
        forward_gathers, backward_gathers, scatters = pairs + 1, 2 * pairs + 2, pairs + 1  # the head's too, and in backward the embedding's
        wanted = {("forward", "all_gather"): (forward_gathers + 1, forward_gathers * self.STREAM + self.STATS),
                  ("forward", "reduce_scatter"): (scatters, scatters * self.STREAM),
                  ("backward", "all_gather"): (backward_gathers, backward_gathers * self.STREAM),
                  ("backward", "reduce_scatter"): (scatters, scatters * self.STREAM),
                  ("update", "all_reduce"): (1, self.NORM_GRADS)}
        self.assertEqual(self.counts(SEQUENCE), wanted)
        replayed = self.LAYERS * self.STREAM
        self.assertEqual(self.counts(SEQUENCE, ["mlp"]), {**wanted, ("replay", "all_gather"): (self.LAYERS, replayed),
                                                          ("replay", "reduce_scatter"): (self.LAYERS, replayed)})
        self.assertEqual(self.counts(SEQUENCE, ["core_attn"]), wanted)

    def test_without_it_sums_go_to_every_rank(self):
        pairs = 2 * self.LAYERS
        wanted = {("forward", "all_gather"): (1, self.STATS), ("forward", "all_reduce"): (pairs + 1, (pairs + 1) * self.STREAM),
                  ("backward", "all_reduce"): (pairs + 1, (pairs + 1) * self.STREAM)}
        self.assertEqual(self.counts(TENSOR), wanted)
        self.assertEqual(self.counts(TENSOR, ["mlp"]), {**wanted, ("replay", "all_reduce"): (self.LAYERS, self.LAYERS * self.STREAM)})

    def test_mla_up_proj_gathers_its_latents_again(self):
        document = lambda labels: document_of("deepseek_v3_tiny", SEQUENCE, labels, train_iters=1)
        replayed = [count for count in Run(document(["mla_up_proj"])).require_success().ranks[0]["step"][0]["communication"] if count["pass"] == "replay"]
        fields = document([])["model"]["fields"]
        latents = self.TOKENS * (fields["q_lora_rank"] + fields["kv_lora_rank"]) * BF16
        self.assertEqual([(count["axis"], count["operation"], count["num_calls"], count["bytes"]) for count in replayed],
                         [("tp", "all_gather", 2 * fields["num_layers"], fields["num_layers"] * latents)])


class PersistentBytesTest(unittest.TestCase):
    def test_a_rank_holds_its_share_of_parameters_and_state(self):
        for options in ({}, {"use_distributed_optimizer": False}, {"gradient_accumulation_fusion": True}):
            document = trial_document([], world_size=2, expert_parallel=2, parallel=SEQUENCE, optimizer=options,
                                      training={"global_batch_size": 1, "train_iters": 2})
            for rank, records in enumerate(Run(document).require_success().ranks):
                with self.subTest(rank=rank, **options):
                    formula = PersistentBytes(document, rank)
                    built = formula.params() + formula.grads() + formula.main() + formula.dummies() + formula.router_counts() + 512
                    self.assertEqual({step["end_allocated_bytes"] for step in records["step"]}, {built + formula.late() + formula.grad_copies()})


class RefusalTest(unittest.TestCase):
    def test_what_does_not_divide_is_refused_with_numbers_and_rule(self):
        cases = [("llama3_tiny", {"num_query_groups": 1}, "model.num_query_groups: wanted a multiple of tensor_model_parallel_size (2), found 1"),
                 ("moonlight_tiny", {"num_attention_heads": 3}, "model.num_attention_heads: wanted a multiple of tensor_model_parallel_size (2), found 3"),
                 ("nemotron_3_nano_tiny", {"mamba_num_groups": 1}, "model.mamba_num_groups: wanted a multiple of tensor_model_parallel_size (2), found 1"),
                 ("qwen3_next_tiny", {"linear_num_key_heads": 1}, "model.linear_num_key_heads: wanted a multiple of tensor_model_parallel_size (2), found 1"),
                 ("llama3_tiny", {"ffn_hidden_size": 383}, "layers.0.mlp.linear_fc1.weight: wanted a multiple"),
                 ("llama3_tiny", {"padded_vocab_size": 1023}, "embedding.word_embeddings.weight: wanted a multiple")]
        for preset, fields, message in cases:
            with self.subTest(preset=preset, fields=fields):
                self.assert_refused(document_of(preset, SEQUENCE, fields=fields), message)

    def test_settings_that_contradict_the_layout_are_refused(self):
        odd = document_of("llama3_tiny", SEQUENCE)
        odd["training"]["seq_length"] = 127
        self.assert_refused(odd, "training.seq_length: with sequence_parallel wanted a multiple of")
        self.assert_refused(document_of("llama3_tiny", SEQUENCE, None, **RecomputeTest.DISTRIBUTED), "recompute.distribute_saved_activations: wanted false")
        self.assert_refused(document_of("moonlight_tiny", TENSOR), "sequence_parallel")

    def assert_refused(self, document, message):
        run = Run(document)
        self.assertEqual(run.exit_codes, [13, 13])
        self.assertIn(message, "\n".join(run.logs) + "".join(error["message"] for rank in run.ranks for error in rank["error"]))


if __name__ == "__main__":
    unittest.main()
