"""What tensor and sequence parallelism hold and send on two real ranks, to the byte, and what they refuse. parallel_contract_test has
the losses and bits of more arms."""
import unittest

import label_formulas
from persistent_bytes import PersistentBytes
from saved_tensors_test import SavedTensorsCheck, saved_tensors
from trainer_runs import TINY_TRAINING, Run, dropout_fields, labels_of, run_batch, tiny_presets, trial_document

BF16, FP32 = 2, 4
SCALAR_BYTES = 512  # the sum of the step's losses
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


class WholeRowsTest(unittest.TestCase):
    """Without sequence parallelism, of the mixers that parallel_contract_test does not try so."""
    # As there.
    TOLERANCE = 0.002

    def test_five_steps_follow_one_rank(self):
        for preset, fields in DENSE.items():
            with self.subTest(preset=preset):
                alone, shared = (run_batch([document_of(preset, parallel, fields=fields, train_iters=5)])[0].ranks for parallel in ({}, TENSOR))
                losses = [[step["loss"] for step in rank["step"]] for rank in (*alone, *shared)]
                self.assertGreater(abs(losses[0][0] / losses[0][-1] - 1), self.TOLERANCE, "the steps change too little to tell")
                for rank in losses[1:]:
                    for ours, theirs in zip(rank, losses[0], strict=True):
                        self.assertAlmostEqual(ours / theirs, 1, delta=self.TOLERANCE)


class NormTest(unittest.TestCase):
    # Gradients of bf16 partial sums, which the ranks add after rounding them (2^-9 relative).
    TOLERANCE = 2e-2

    def test_parameters_and_their_gradients_count_once(self):
        for options in ({"use_distributed_optimizer": False}, {"use_distributed_optimizer": True}):
            for preset in tiny_presets():
                with self.subTest(preset=preset, **options):
                    alone, shared = (run_batch([document_of(preset, parallel, optimizer=options, train_iters=1)])[0].ranks for parallel in ({}, SEQUENCE))
                    for rank in shared:
                        self.assertEqual(rank["model"][0]["num_parameters_total"], alone[0]["model"][0]["num_parameters_total"])
                        self.assertAlmostEqual(rank["step"][0]["grad_norm"] / alone[0]["step"][0]["grad_norm"], 1, delta=self.TOLERANCE)


class HeldBytesTest(SavedTensorsCheck, unittest.TestCase):
    UNIONS = [["layernorm", "mla_up_proj"], ["layernorm", "moe_act"], ["moe", "layernorm"]]
    UNIFORM = {"granularity": "full", "recompute": {"recompute_method": "uniform", "recompute_num_layers": 1}}
    DISTRIBUTED = {"granularity": "full", "recompute": {**UNIFORM["recompute"], "distribute_saved_activations": True}}

    def labels_with_sites(self, preset, fields):
        model = document_of(preset, {}, fields=fields)["model"]
        kinds = label_formulas.layer_kinds(model["family"], model["fields"])
        mixers, mlps = {mixer for mixer, _ in kinds}, {mlp for _, mlp in kinds}
        needs = {"moe": "moe" in mlps, "moe_act": "moe" in mlps, "shared_experts": "moe" in mlps, "mlp": "dense" in mlps,
                 "layernorm": "moe" in mlps or "mla" in mixers}
        return [label for label in labels_of(preset) if needs.get(label, True)]

    def test_every_label_drops_its_bytes_and_leaves_the_bits(self):
        for preset, parallel, fields in LAYOUTS:
            fields = {**fields, **dropout_fields(0.1)}
            labels = self.labels_with_sites(preset, fields)
            arms = [[]] + [[label] for label in labels] + [union for union in self.UNIONS if set(union) <= set(labels)]
            documents = [document_of(preset, parallel, arm, fields=fields) for arm in arms]
            control, *runs = run_batch(documents, limit_s=200)
            for arm, run in zip(arms[1:], runs):
                with self.subTest(preset=preset, arm=arm, **parallel):
                    self.assertEqual(run.loss_bits(), control.loss_bits())
                    self.assertEqual(run.gradients, control.gradients)
                    for ours, theirs in zip(run.ranks, control.ranks):
                        ours, theirs = ours["step"][-1], theirs["step"][-1]
                        shapes = label_formulas.Shapes(documents[0], theirs["tokens_received"])
                        dropped = theirs["forward_end_allocated_bytes"] - ours["forward_end_allocated_bytes"]
                        self.assertEqual(dropped, label_formulas.dropped_bytes(arm, shapes))

    def test_distributed_saved_activations_halve_the_inputs_of_the_layers_and_leave_the_bits(self):
        for preset, fields in DENSE.items():
            fields = {**fields, **dropout_fields(0.1)}
            documents = [document_of(preset, TENSOR, None, fields=fields, **arm) for arm in (self.UNIFORM, self.DISTRIBUTED)]
            whole, halved = run_batch(documents)
            with self.subTest(preset=preset):
                self.assertEqual(halved.loss_bits(), whole.loss_bits())
                self.assertEqual(halved.gradients, whole.gradients)
                shapes = label_formulas.Shapes(documents[0], [])
                inputs = shapes.num_layers * label_formulas.tensor(shapes.tokens, shapes.f["hidden_size"], size=BF16)
                for ours, theirs in zip(halved.ranks, whole.ranks):
                    self.assertEqual(theirs["step"][-1]["forward_end_allocated_bytes"] - ours["step"][-1]["forward_end_allocated_bytes"], inputs // 2)
                    gathered = [row["bytes"] for row in ours["step"][-1]["communication"]
                                if (row["axis"], row["pass"], row["operation"]) == ("tp", "replay", "all_gather")]
                    self.assertEqual(gathered, [inputs * shapes.layout.num_microbatches], "the halves come together in the replay")

    def test_every_layer_keeps_its_formula_to_the_byte(self):
        for preset, parallel, fields in LAYOUTS:
            for attention in ("fused", "unfused"):
                with self.subTest(preset=preset, attention=attention, **parallel):
                    document = document_of(preset, parallel, fields={**fields, **dropout_fields(0.1)}, attention=attention, train_iters=1)
                    received = [rank["step"][0]["tokens_received"] for rank in run_batch([document])[0].ranks]
                    for rank, table in enumerate(saved_tensors(document)):
                        self.check(table, label_formulas.Shapes(document, received[rank], rank), labels_of(preset))


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


class GradientSumTest(unittest.TestCase):
    def test_the_gradients_of_norms_lie_side_by_side_while_they_are_summed(self):
        for options, size in (({}, BF16), ({"grad_reduce_in_fp32": True}, FP32)):
            document = document_of("llama3_tiny", SEQUENCE, optimizer=options, train_iters=1)
            fields = document["model"]["fields"]
            norms = label_formulas.tensor(2 * fields["num_layers"] + 1, fields["hidden_size"], size=size)
            for rank, records in enumerate(run_batch([document])[0].ranks):
                with self.subTest(rank=rank, **options):
                    held = PersistentBytes(document, rank).built() + SCALAR_BYTES
                    self.assertEqual(records["step"][0]["phases"]["grad_sync"]["peak_allocated_bytes"], held + norms)


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
        self.assert_refused(odd, "training.seq_length: wanted a multiple of tensor_model_parallel_size")
        self.assert_refused(document_of("llama3_tiny", SEQUENCE, None, **HeldBytesTest.DISTRIBUTED), "recompute.distribute_saved_activations: wanted false")
        self.assert_refused(document_of("moonlight_tiny", TENSOR), "sequence_parallel")

    def assert_refused(self, document, message):
        run = Run(document)
        # A rank may find its peer gone before it has looked at the model itself: communication failed.
        self.assertIn(13, run.exit_codes)
        self.assertLessEqual(set(run.exit_codes), {12, 13})
        self.assertIn(message, "\n".join(run.logs) + "".join(error["message"] for rank in run.ranks for error in rank["error"]))


if __name__ == "__main__":
    unittest.main()
