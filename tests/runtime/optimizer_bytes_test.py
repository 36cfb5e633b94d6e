"""Every byte mode of the optimizer, on real ranks: what is held, and when, equals the formula to the byte; the modes train alike; and labels
stay exact under each."""
import itertools
import unittest

from persistent_bytes import PersistentBytes
from trainer_runs import Run, run_batch, trial_document

LAYOUTS = [(1, 1), (2, 1), (2, 2), (4, 2)]  # ranks, expert parallel
SCALAR_BYTES = 512  # the sum of the step's losses
CLIP_GRAD = 0.1
BATCH_LIMIT_S = 200

FP32_GRADS, BF16_GRADS = {"grad_reduce_in_fp32": True}, {"grad_reduce_in_fp32": False}
AWARE = {"use_precision_aware_optimizer": True}
BF16_MOMENTS = {"exp_avg_dtype": "bf16", "exp_avg_sq_dtype": "bf16"}
WHOLE = {"use_distributed_optimizer": False}
FUSION = {"gradient_accumulation_fusion": True}
BRIDGE = {"fp8_recipe": "tensorwise"}


class Mode:
    """Options, and the row of Megatron's table: bytes a parameter of the gradient buffer, of the state in this rank's shard, of the fp32
    gradient copies and of the moment copies."""

    def __init__(self, options, grads, state, grad_copies=0, moment_copies=0):
        self.options, self.grads, self.state = options, grads, state
        self.grad_copies, self.moment_copies = grad_copies, moment_copies


MODES = {
    "bf16 gradients": Mode(BF16_GRADS, 2, 12, grad_copies=4),
    "fp32 gradients": Mode(FP32_GRADS, 4, 12),
    "whole": Mode({**WHOLE, **FP32_GRADS}, 4, 12),
    "whole, bf16 gradients": Mode({**WHOLE, **BF16_GRADS}, 2, 12, grad_copies=4),
    "remainders, bf16 moments": Mode({**AWARE, **BF16_MOMENTS}, 2, 6),
    "remainders, bf16 moments, fp32 gradients": Mode({**AWARE, **BF16_MOMENTS, **FP32_GRADS}, 4, 6),
    "remainders, fp32 moments": Mode(AWARE, 2, 10),
    "remainders, mixed moments": Mode({**AWARE, "exp_avg_dtype": "bf16"}, 2, 8, moment_copies=4),
    "no remainders, bf16 moments": Mode({**AWARE, **BF16_MOMENTS, "store_param_remainders": False}, 2, 8),
    "recipe delayed": Mode({**AWARE, **BF16_MOMENTS, "fp8_recipe": "delayed"}, 2, 6),
    "recipe of Bridge": Mode({**AWARE, **BF16_MOMENTS, **BRIDGE}, 2, 8, grad_copies=4),
    "recipe of Bridge, fp32 gradients": Mode({**AWARE, **BF16_MOMENTS, **BRIDGE, **FP32_GRADS}, 4, 8),
    "recipe of Bridge, mixed moments": Mode({**AWARE, **BRIDGE, "exp_avg_sq_dtype": "bf16"}, 2, 10, grad_copies=4, moment_copies=4),
    "recipe without a precision-aware optimizer": Mode(BRIDGE, 2, 12, grad_copies=4),
    "fused, bf16 gradients": Mode(FUSION, 2, 12, grad_copies=4),
    "fused, fp32 gradients": Mode({**FUSION, **FP32_GRADS}, 4, 12),
    "fused, recipe of Bridge": Mode({**FUSION, **AWARE, **BF16_MOMENTS, **BRIDGE}, 2, 8, grad_copies=4),
}


class OptimizerBytesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.documents = {(layout, name): trial_document([], world_size=layout[0], expert_parallel=layout[1], optimizer={"clip_grad": CLIP_GRAD, **mode.options},
                                                        training={"global_batch_size": 4, "train_iters": 4})
                         for layout, (name, mode) in itertools.product(LAYOUTS, MODES.items())}
        cls.runs = {}
        for layout in LAYOUTS:
            batch = {key: document for key, document in cls.documents.items() if key[0] == layout}
            cls.runs.update(zip(batch, run_batch(list(batch.values()), limit_s=BATCH_LIMIT_S)))

    def check_each_rank(self, check):
        for (layout, name), run in self.runs.items():
            for rank, records in enumerate(run.ranks):
                with self.subTest(layout=layout, mode=name, rank=rank):
                    formula = PersistentBytes(self.documents[layout, name], rank)
                    built = formula.built() + SCALAR_BYTES
                    check(MODES[name], formula, built, records["step"])

    def test_before_the_first_update_a_rank_holds_parameters_gradients_main_weights_and_dummies(self):
        def check(_mode, _formula, built, steps):
            self.assertEqual(steps[0]["phases"]["grad_sync"]["peak_allocated_bytes"], built)
        self.check_each_rank(check)

    def test_the_first_step_adds_the_late_state_to_the_gradient_copies(self):
        def check(_mode, formula, built, steps):
            self.assertEqual(steps[0]["phases"]["optimizer_init"]["peak_allocated_bytes"], built + formula.grad_copies() + formula.late())
            self.assertEqual({step["phases"]["grad_sync"]["peak_allocated_bytes"] for step in steps[1:]}, {built + formula.late()})
        self.check_each_rank(check)

    def test_gradient_copies_outlive_the_step_and_moment_copies_do_not(self):
        def check(_mode, formula, built, steps):
            after = built + formula.late() + formula.grad_copies()
            self.assertEqual({step["phases"]["optimizer"]["peak_allocated_bytes"] for step in steps}, {after + formula.moment_copies()})
            self.assertEqual({step["end_allocated_bytes"] for step in steps}, {after})
        self.check_each_rank(check)

    def test_the_formula_is_the_table_within_padding(self):
        def check(mode, formula, _built, _steps):
            local, elements = sum(buffer.total for buffer in formula.buffers), formula.num_elements()
            num_pieces = sum(len(buffer.pieces) for buffer in formula.buffers)
            for found, wanted, num_tensors in ((formula.params(), 2 * local, len(formula.shapes)), (formula.grads(), mode.grads * local, 2),
                                               (formula.main() + formula.late(), mode.state * elements, 3 * num_pieces),
                                               (formula.grad_copies(), mode.grad_copies * elements, num_pieces)):
                self.assertGreaterEqual(found, wanted)
                self.assertLessEqual(found - wanted, 511 * num_tensors)
            self.assertLessEqual(formula.moment_copies(), mode.moment_copies * (elements + 127 * num_pieces))
            self.assertEqual(formula.moment_copies() > 0, mode.moment_copies > 0)
        self.check_each_rank(check)

    def test_ranks_share_the_state_between_them(self):
        for layout, name in self.runs:
            if not MODES[name].options.get("use_distributed_optimizer", True):
                continue
            elements = sum(PersistentBytes(self.documents[layout, name], rank).num_elements() for rank in range(layout[0]))
            alone = PersistentBytes(self.documents[(1, 1), name], 0).num_elements()
            self.assertEqual(elements, alone, (layout, name))

    def test_no_block_is_so_large_that_the_allocator_leaves_a_rest_at_it(self):
        def check(_mode, formula, _built, _steps):
            self.assertLess(4 * max(buffer.total for buffer in formula.buffers), 1 << 20)
        self.check_each_rank(check)

    def test_every_mode_trains_like_fp32(self):
        # A step of lr 1e-3 changes these losses by 1e-3 to 2e-3. Rounding moments or gradients to bf16, 2^-9 relative, moves the steps of single
        # weights by as much to either side, which leaves differences of 1e-5 in a mean of losses and 1e-4 in a norm of gradients.
        for layout in LAYOUTS:
            wanted = self.runs[layout, "fp32 gradients"].ranks[0]["step"]
            self.assertLess(wanted[-1]["loss"], wanted[0]["loss"] * (1 - 1e-3))
            self.assertGreater(min(step["grad_norm"] for step in wanted), 2 * CLIP_GRAD)  # every step is clipped
            for name in MODES:
                for ours, theirs in zip(self.runs[layout, name].ranks[0]["step"], wanted):
                    with self.subTest(layout=layout, mode=name, step=ours["step"]):
                        self.assertAlmostEqual(ours["loss"] / theirs["loss"], 1, delta=1e-4)
                        self.assertAlmostEqual(ours["grad_norm"] / theirs["grad_norm"], 1, delta=1e-3)

    def test_modes_that_step_on_the_same_numbers_train_the_same_to_the_bit(self):
        for layout in LAYOUTS:
            for name, twin in (("recipe delayed", "remainders, bf16 moments"), ("recipe without a precision-aware optimizer", "bf16 gradients")):
                self.assertEqual(self.runs[layout, name].loss_bits(), self.runs[layout, twin].loss_bits(), (layout, name))


class MetaTest(unittest.TestCase):
    def test_meta_predicts_the_bytes_of_each_mode_to_the_byte(self):
        bytes_of = lambda run: [([(name, phase["peak_allocated_bytes"]) for name, phase in step["phases"].items()], step["end_allocated_bytes"])
                                for step in run.ranks[0]["step"]]
        for name, mode in MODES.items():
            layout = {"world_size": 1, "expert_parallel": 1, "optimizer": mode.options, "training": {"train_iters": 2}}
            cpu, meta = (Run(trial_document([], device=device, **layout)).require_success() for device in ("cpu", "meta"))
            self.assertEqual(bytes_of(meta), bytes_of(cpu), name)


class WeightGradientTest(unittest.TestCase):
    """Vocabulary 8192 and 8 tokens: the gradients of head and embedding are large, what is held beside them is not. The head's is made while the
    gradient of the logits is held, the embedding's at the end of backward."""

    def test_it_is_held_once_and_with_fusion_the_head_has_none(self):
        fields = {"padded_vocab_size": 8192, "num_layers": 1, "moe_layer_freq": [1]}
        gradient, logits = 2 * 8192 * 32, 2 * 8 * 8192
        for options, beside in ((BF16_GRADS, logits), (FP32_GRADS, logits), (FUSION, 0), ({**FUSION, **FP32_GRADS}, 0)):
            run = Run(trial_document([], world_size=1, expert_parallel=1, fields=fields, optimizer=options, training={"seq_length": 8}))
            phases = run.require_success().ranks[0]["step"][-1]["phases"]
            transient = phases["backward"]["peak_allocated_bytes"] - phases["grad_sync"]["peak_allocated_bytes"]
            self.assertGreater(transient, gradient + beside, options)
            self.assertLess(transient, gradient + beside + logits // 2, options)


class LabelsUnderEachModeTest(unittest.TestCase):
    """Losses and gradients of an arm equal the control's to the bit whatever the gradients add up in."""

    def test_labels_are_exact_under_fusion_and_under_fp32_buffers(self):
        for options in ({**FUSION, **BF16_GRADS}, {**FUSION, **FP32_GRADS}, FP32_GRADS, {**WHOLE, **BF16_GRADS}):
            layout = {"world_size": 2, "expert_parallel": 2, "optimizer": options, "training": {"global_batch_size": 4}}
            control = Run(trial_document([], **layout)).require_success()
            for modules in (["moe_act"], ["moe"], ["layernorm", "mla_up_proj", "mlp"]):
                with self.subTest(options=options, modules=modules):
                    arm = Run(trial_document(modules, **layout)).require_success()
                    self.assertEqual(arm.loss_bits(), control.loss_bits())
                    self.assertEqual(arm.gradients, control.gradients)
                    self.assertTrue(all(arm.gradients))


class RefusalTest(unittest.TestCase):
    def test_a_contradiction_is_refused_with_option_found_and_way_out(self):
        cases = [({**AWARE, **WHOLE}, "optimizer.use_precision_aware_optimizer", "found false"),
                 ({"exp_avg_dtype": "bf16"}, "optimizer.exp_avg_dtype", "found 'bf16'"),
                 ({"exp_avg_sq_dtype": "fp16"}, "optimizer.exp_avg_sq_dtype", "found 'fp16'"),
                 ({**AWARE, "exp_avg_sq_dtype": "fp8"}, "optimizer.exp_avg_sq_dtype", "found 'fp8'")]
        for options, option, found in cases:
            with self.subTest(options=options):
                run = Run(trial_document([], world_size=1, expert_parallel=1, optimizer=options))
                self.assertEqual(run.exit_codes, [13])
                self.assertIn(option, run.logs[0])
                self.assertIn(found, run.logs[0])


if __name__ == "__main__":
    unittest.main()
