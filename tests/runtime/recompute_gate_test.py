"""The gate of recompute: losses and every gradient equal the empty control's to the bit, and each label drops the bytes of its formula."""
import unittest

import label_formulas
import trainer_runs
from trainer_runs import Run, activation_peak, trial_document

LABELS = [["core_attn"], ["mla_up_proj"], ["layernorm"], ["moe_act"], ["mlp"], ["moe"], ["shared_experts"]]
# Two sets that go well together, every nesting, and everything at once.
UNIONS = [["mla_up_proj", "mlp"], ["layernorm", "moe_act"], ["moe", "layernorm"], ["moe", "moe_act"], ["moe", "shared_experts"],
          ["layernorm", "mla_up_proj"], ["core_attn", "mla_up_proj"],
          ["core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"]]


class RecomputeGate:
    """The cases, over one layout. Subclasses say which."""
    layout = {}

    @classmethod
    def setUpClass(cls):
        cls.document = trial_document([], **cls.layout)
        cls.control = Run(cls.document).require_success()
        kinds = cls.document["model"]["fields"]["moe_layer_freq"][:cls.document["model"]["fields"]["num_layers"]]
        dense, moe = kinds.count(0), kinds.count(1)
        cls.sites = {"core_attn": dense + moe, "mla_up_proj": dense + moe, "layernorm": dense + 2 * moe, "moe_act": moe, "mlp": dense,
                     "moe": moe, "shared_experts": moe}
        training = cls.document["training"]
        data_parallel = cls.document["parallel"]["world_size"]
        cls.num_micro_batches = training["global_batch_size"] // (training["micro_batch_size"] * data_parallel)

    def compare(self, modules):
        arm = Run(trial_document(modules, **self.layout)).require_success()
        self.assertEqual(arm.loss_bits(), self.control.loss_bits())
        self.assertEqual([[step["grad_norm"] for step in rank["step"]] for rank in arm.ranks],
                         [[step["grad_norm"] for step in rank["step"]] for rank in self.control.ranks])
        self.assertEqual([[step["aux_losses"] for step in rank["step"]] for rank in arm.ranks],
                         [[step["aux_losses"] for step in rank["step"]] for rank in self.control.ranks])
        for ours, theirs in zip(arm.gradients, self.control.gradients):
            self.assertTrue(theirs)
            self.assertEqual({key for key in theirs if ours.get(key) != theirs[key]}, set(), "gradients that differ")
        return arm

    def test_the_control_wraps_and_replays_nothing(self):
        for rank in self.control.ranks:
            self.assertEqual(rank["hello"][0]["resolved_recompute"]["recompute_modules"], [])
            self.assertEqual(rank["model"][0]["sites"], {})
            self.assertEqual({count for step in rank["step"] for count in step["replays"].values()}, {0})
            self.assertEqual(rank["model"][0]["sites_available"], self.sites)

    def test_losses_change_from_step_to_step(self):
        bits = self.control.loss_bits()[0]
        self.assertEqual(len(set(bits)), len(bits))

    def test_the_lifetime_peak_equals_the_largest_fold(self):
        for rank in self.control.ranks:
            for kind in ("allocated", "reserved"):
                folds = [phase[f"peak_{kind}_bytes"] for record in rank["model"] + rank["step"] for phase in record["phases"].values()]
                self.assertEqual(max(folds), rank["bye"][0][f"lifetime_peak_{kind}_bytes"])

    def test_every_label_and_union_equals_the_control_to_the_bit_and_drops_its_bytes(self):
        for modules in LABELS + UNIONS:
            with self.subTest(modules="+".join(modules)):
                arm = self.compare(modules)
                for rank, control_rank in zip(arm.ranks, self.control.ranks):
                    self.assertEqual(rank["model"][0]["sites"], {label: self.sites[label] for label in modules})
                    for step, control_step in zip(rank["step"], control_rank["step"]):
                        self.check_replays(modules, step)
                        self.check_bytes(modules, step, control_step)

    def check_replays(self, modules, step):
        for label in modules:
            self.assertGreater(self.sites[label], 0)
            self.assertEqual(step["replays"][label], self.sites[label] * self.num_micro_batches, label)
        self.assertEqual({label for label, count in step["replays"].items() if count} - set(modules), set())

    def check_bytes(self, modules, step, control_step):
        self.assertEqual(step["tokens_received"], control_step["tokens_received"])
        shapes = label_formulas.Shapes(self.document, step["tokens_received"])
        wanted = label_formulas.dropped_bytes(modules, shapes)
        dropped = control_step["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"]
        self.assertGreater(wanted, 0)
        self.assertEqual(dropped, wanted)
        self.assertLess(activation_peak(step), activation_peak(control_step))


class TwoRanksShareTheExpertsTest(RecomputeGate, unittest.TestCase):
    """Expert parallel 2: uneven all-to-all; two choices of 24 tokens on each rank leave some of 64 experts without any."""
    layout = {"fields": {"num_moe_experts": 64}, "training": {"seq_length": 24}}

    def test_routing_is_uneven_and_some_expert_gets_no_token(self):
        # Each expert's gradient is zero to the bit where it got no token: the buffer was zeroed and nothing was added.
        received = [rank["step"][0]["tokens_received"] for rank in self.control.ranks]
        self.assertNotEqual(received[0], received[1])
        experts = [[hash_ for (step, name), hash_ in gradients.items() if step == 0 and ".experts." in name and "linear_fc2" in name]
                   for gradients in self.control.gradients]
        repeated = [hash_ for rank in experts for hash_ in rank if sum(other.count(hash_) for other in experts) > 1]
        self.assertTrue(repeated, "no two experts share a gradient, so none was left without tokens")


class FourRanksReplicateTheExpertsTest(RecomputeGate, unittest.TestCase):
    """Expert parallel 2 over data parallel 4: expert gradients are reduced over two replicas."""
    layout = {"world_size": 4}


class OneRankWithMicroBatchesTest(RecomputeGate, unittest.TestCase):
    """Gradients add up over three micro-batches of two sequences; a query latent beside the key-value latent."""
    layout = {"world_size": 1, "expert_parallel": 1, "fields": {"q_lora_rank": 48},
              "training": {"micro_batch_size": 2, "global_batch_size": 6, "train_iters": 2}}


class TwoRanksBalanceTogetherTest(RecomputeGate, unittest.TestCase):
    """Two ranks, two micro-batches each, and a load-balancing loss whose counts run over ranks and micro-batches: counted once, replayed or not."""
    layout = {"fields": {"moe_router_load_balancing_type": "global_aux_loss", "moe_aux_loss_coeff": 0.1}, "training": {"global_batch_size": 4}}

    def test_full_recompute_counts_once_too(self):
        full = {"recompute_method": "uniform", "recompute_num_layers": 2}
        arm = Run(trial_document(None, granularity="full", recompute=full, **self.layout)).require_success()
        self.assertEqual(arm.loss_bits(), self.control.loss_bits())
        self.assertEqual(arm.gradients, self.control.gradients)
        for ours, theirs in zip(arm.ranks, self.control.ranks):
            self.assertEqual([step["aux_losses"] for step in ours["step"]], [step["aux_losses"] for step in theirs["step"]])
            self.assertEqual(ours["model"][0]["sites"], {"full": 2})

    def test_the_loss_is_told_once_a_step_and_alike_on_both_ranks(self):
        ours, theirs = ([step["aux_losses"]["global_load_balancing_loss"] for step in rank["step"]] for rank in self.control.ranks)
        self.assertEqual(ours, theirs)
        for loss in ours:
            self.assertGreater(loss, 0.9)  # 1 where loads are even
            self.assertLess(loss, 2)


class LayoutsAgreeTest(unittest.TestCase):
    """The same model, seed and global batch under three layouts. What differs is the order in which bf16 gradients are summed and rounded,
    once a rank: 2^-8 relative on single elements, which averages out over a norm and over a mean of losses."""
    TOLERANCE = 0.002

    def test_losses_and_gradient_norms_match_the_single_rank_run(self):
        common = {"training": {"seq_length": 64, "global_batch_size": 4, "train_iters": 4}}
        alone = Run(trial_document([], world_size=1, expert_parallel=1, **common)).require_success()
        for world_size, expert_parallel in ((2, 1), (2, 2), (4, 2)):
            run = Run(trial_document([], world_size=world_size, expert_parallel=expert_parallel, **common)).require_success()
            for ours, theirs in zip(run.ranks[0]["step"], alone.ranks[0]["step"]):
                with self.subTest(world_size=world_size, expert_parallel=expert_parallel, step=ours["step"]):
                    self.assertAlmostEqual(ours["loss"] / theirs["loss"], 1, delta=self.TOLERANCE)
                    self.assertAlmostEqual(ours["grad_norm"] / theirs["grad_norm"], 1, delta=5 * self.TOLERANCE)


class BackwardPeakTest(unittest.TestCase):
    """No arm holds a discarded tensor longer than its layer: with a peak in the backward of the only MoE layer, nothing is gained by a region
    there, and nothing may be lost."""

    def test_a_replay_holds_no_more_than_the_control_held(self):
        layout = {"world_size": 1, "expert_parallel": 1, "training": {"seq_length": 256},
                  "fields": {"num_layers": 1, "moe_layer_freq": [1], "padded_vocab_size": 16, "moe_ffn_hidden_size": 64}}
        backward_peak = lambda run: run.ranks[0]["step"][-1]["phases"]["backward"]["peak_allocated_bytes"]
        control = backward_peak(Run(trial_document([], **layout)).require_success())
        for modules in (["mla_up_proj"], ["layernorm"], ["moe_act"], ["layernorm", "moe_act"]):
            arm = backward_peak(Run(trial_document(modules, **layout)).require_success())
            self.assertLessEqual(arm, control, modules)


class NestingTest(unittest.TestCase):
    """moe_act and shared_experts beside moe: nothing more is dropped at the end of forward, but the replay of moe holds so much less. A large hidden
    size, a tiny vocabulary and small experts put the peak into the replay of the last MoE layer, at the combine, whose buffers are the largest."""

    def layout(self, num_layers):
        return {"fields": {"num_layers": num_layers, "moe_layer_freq": [1] * num_layers, "hidden_size": 128, "padded_vocab_size": 16,
                           "moe_router_topk": 6, "moe_ffn_hidden_size": 16},
                "training": {"seq_length": 128, "train_iters": 2}}

    def test_labels_inside_moe_lower_the_peak_of_its_replay_by_what_they_drop_in_that_layer(self):
        for num_layers in (1, 2):
            layout = self.layout(num_layers)
            document = trial_document(["moe"], **layout)
            moe = Run(document).require_success()
            self.check_that_the_combine_binds(moe)
            for inside in (["moe_act"], ["shared_experts"], ["moe_act", "shared_experts"]):
                arm = Run(trial_document(["moe", *inside], **layout)).require_success()
                for ours, theirs in zip(arm.ranks, moe.ranks):
                    for step, moe_step in zip(ours["step"], theirs["step"]):
                        with self.subTest(num_layers=num_layers, inside="+".join(inside), step=step["step"]):
                            self.assertEqual(step["forward_end_allocated_bytes"], moe_step["forward_end_allocated_bytes"])
                            shapes = label_formulas.Shapes(document, step["tokens_received"])
                            wanted = label_formulas.inside_the_replay_of_moe(inside, shapes, layer=num_layers - 1)
                            self.assertGreater(wanted, 0)
                            self.assertEqual(self.backward_peak(moe_step) - self.backward_peak(step), wanted)

    def check_that_the_combine_binds(self, run):
        for rank in run.ranks:
            for step in rank["step"]:
                self.assertEqual(max(phase["peak_allocated_bytes"] for phase in step["phases"].values()), self.backward_peak(step))
                sent = sum(part["bytes"] for part in step["peak_attribution"] if part["role"] == "communication" and part["region"] == "moe")
                tokens, choices, hidden_size = 128, 6, 128
                rows_sent_and_received = tokens * choices + step["tokens_received"][-1]
                self.assertGreaterEqual(sent, rows_sent_and_received * hidden_size * label_formulas.BF16)

    @staticmethod
    def backward_peak(step):
        return step["phases"]["backward"]["peak_allocated_bytes"]


class EmptyControlTest(unittest.TestCase):
    def test_without_granularity_the_control_is_as_empty(self):
        for modules in (None, []):
            run = Run(trial_document(modules, world_size=1, expert_parallel=1, granularity=None)).require_success()
            self.assertEqual(run.ranks[0]["hello"][0]["resolved_recompute"]["recompute_modules"], modules)
            self.assertEqual(run.ranks[0]["model"][0]["sites"], {})


if __name__ == "__main__":
    unittest.main()
