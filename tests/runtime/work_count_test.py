"""StepRecord.work: a dense model's products are Megatron's formula but for attention, whose tiles are counted as they are taken; a replay does what
its label says, and nothing else changes with it."""
import unittest

from trainer_runs import TINY, TINY_TRAINING, MetaRank, trial_document

ALONE = {"world_size": 1, "expert_parallel": 1, "training": TINY_TRAINING, "device": "meta"}
UNIFORM = {"modules": None, "granularity": "full", "recompute": {"recompute_method": "uniform", "recompute_num_layers": 1}}
QUERY_BLOCK = 128
TOKENS, HIDDEN, NUM_MOE, BF16, FP32 = 256, TINY["hidden_size"], 2, 2, 4  # of the micro-batch that a step of TINY_TRAINING is


def run(modules, **layout):
    return MetaRank(trial_document(modules, **{**ALONE, **layout})).require_success()


def work_by_pass(rank):
    return {count["pass"]: count for count in rank.last_step()["work"]}


def products(rank, names=("forward", "backward")):
    return sum(work_by_pass(rank)[name]["matmul_flops"] for name in names)


def attended_pairs(length):
    """Of a query and a key, in the blocks of queries that fused attention takes with all keys up to the block's last."""
    ends = [min(first + QUERY_BLOCK, length) for first in range(0, length, QUERY_BLOCK)]
    return sum((end - first) * end for first, end in zip([0] + ends, ends))


class DenseModelTest(unittest.TestCase):
    def test_forward_and_backward_are_the_formula_with_attention_as_it_is_taken(self):
        for attention, length in (("fused", 128), ("fused", 300), ("unfused", 128)):
            with self.subTest(attention=attention, length=length):
                training = {**TINY_TRAINING, "seq_length": length}
                rank = run([], preset="llama3_tiny", attention=attention, training=training)
                fields = trial_document([], preset="llama3_tiny")["model"]["fields"]
                width, batch = fields["num_attention_heads"] * fields["kv_channels"], training["global_batch_size"]
                formula = rank.records["model"][0]["flops_per_step"]
                of_squares = 6 * batch * length ** 2 * width * fields["num_layers"]
                pairs, num_products = (attended_pairs(length), 7) if attention == "fused" else (length ** 2, 6)
                taken = 2 * num_products * batch * pairs * width * fields["num_layers"]
                self.assertGreater(formula, of_squares)
                self.assertEqual(products(rank), formula - of_squares + taken)

    def test_every_step_and_every_tensor_parallel_share_counts_alike(self):
        alone = run([], preset="llama3_tiny")
        steps = [step["work"] for step in alone.records["step"]]
        self.assertEqual(steps[0], steps[-1])
        shared = run([], preset="llama3_tiny", world_size=2, parallel={"tensor_model_parallel_size": 2})
        self.assertEqual(2 * products(shared), products(alone))


class ReplayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.control = run([])

    def replayed(self, modules, **layout):
        arm = run(modules, **layout)
        passes, control = work_by_pass(arm), work_by_pass(self.control)
        self.assertNotIn("replay", control)
        for name in ("forward", "backward", "update"):
            self.assertEqual(passes[name]["matmul_flops"], control[name]["matmul_flops"], name)
        self.assertEqual(passes["update"], control["update"])
        self.assertEqual(passes["forward"], control["forward"])
        return passes["replay"]

    def test_mlp_replays_three_products_of_the_dense_layer(self):
        self.assertEqual(self.replayed(["mlp"])["matmul_flops"], 2 * TOKENS * HIDDEN * TINY["ffn_hidden_size"] * 3)

    def test_moe_replays_router_experts_and_shared_experts(self):
        widths = TINY["moe_router_topk"] * TINY["moe_ffn_hidden_size"] + TINY["moe_shared_expert_intermediate_size"]
        per_layer = 2 * TOKENS * HIDDEN * (TINY["num_moe_experts"] + 3 * widths)
        self.assertEqual(self.replayed(["moe"])["matmul_flops"], NUM_MOE * per_layer)

    def test_uniform_replays_the_forward_but_the_head(self):
        head = 2 * TOKENS * HIDDEN * TINY["padded_vocab_size"]
        forward = work_by_pass(self.control)["forward"]["matmul_flops"]
        self.assertEqual(self.replayed(**UNIFORM)["matmul_flops"], forward - head)

    def test_layernorm_replays_norms_and_moe_act_activations(self):
        norms = self.replayed(["layernorm"])
        num_norms = 3 + NUM_MOE  # of every layer's input, and before the experts
        per_norm = 2 * TOKENS * HIDDEN * BF16 + TOKENS * FP32 + HIDDEN * BF16  # input, output, deviations, weight
        self.assertEqual((norms["matmul_flops"], norms["num_kernels"], norms["other_bytes"]), (0, num_norms, num_norms * per_norm))
        activations = self.replayed(["moe_act"])
        rows, width = TOKENS * TINY["moe_router_topk"], TINY["moe_ffn_hidden_size"]
        per_layer = rows * width * BF16 * 3 + rows * FP32  # two halves read, one written; probabilities
        self.assertEqual((activations["matmul_flops"], activations["num_kernels"], activations["other_bytes"]), (0, NUM_MOE, NUM_MOE * per_layer))


class UpdateTest(unittest.TestCase):
    def test_the_update_moves_gradients_and_state_as_its_byte_mode_says(self):
        rank = run([], optimizer={"clip_grad": 0.0})
        num_parameters = rank.records["model"][0]["num_parameters_local"]
        # Zeroed (2); copied to fp32 (2 + 4), normed (4); read (4) with three fp32 numbers of state, which are written too (24), and the parameter (2).
        # The buffers are padded a little, and the expert bias is beside them.
        per_parameter = work_by_pass(rank)["update"]["other_bytes"] / num_parameters
        self.assertGreaterEqual(per_parameter, 42)
        self.assertLess(per_parameter, 42.5)
        self.assertEqual(work_by_pass(rank)["update"]["matmul_flops"], 0)


if __name__ == "__main__":
    unittest.main()
