"""What a prediction assumes: each assumption is varied alone, and moves the bytes of a rank on meta by its formula and nothing else."""
import unittest
from unittest import mock

import label_formulas
from label_formulas import BF16, Shapes, tensor
from persistent_bytes import PersistentBytes
from trainer_runs import MetaRank, assumptions, trial_document

MIB = 1 << 20
OUT_OF_MEMORY = 10
# The layout of the published Moonlight study. One expert a rank; 1.1 times a rank's share of the tokens is a whole number.
LAYOUT = {"world_size": 8, "expert_parallel": 8, "device": "meta", "parallel": {"tensor_model_parallel_size": 2, "sequence_parallel": True},
          "training": {"seq_length": 640, "global_batch_size": 4, "train_iters": 2}}
CHOICES = 640  # of a rank's 320 rows for 2 experts each


def document(**changes):
    return trial_document([], **{**LAYOUT, "prediction": assumptions(), **changes})


def run(rank=0, **changes):
    return MetaRank(document(**changes), rank)


def last_step(rank=0, **changes):
    return run(rank, **changes).require_success().last_step()


def peaks(step, kind="allocated"):
    return {phase: peak[f"peak_{kind}_bytes"] for phase, peak in step["phases"].items()}


def temporaries(step):
    return sum(part["bytes"] for part in step["peak_attribution"] if part["role"] == "temporaries")


class AssumptionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = last_step()

    def grown(self, step, kind="allocated"):
        """How much more each phase takes at its peak."""
        before = peaks(self.base, kind)
        return {phase: peak - before[phase] for phase, peak in peaks(step, kind).items()}

    def held_more(self, step):
        return step["forward_end_allocated_bytes"] - self.base["forward_end_allocated_bytes"]

    def test_workspaces_and_graph_pools_are_held_in_every_phase(self):
        for name in ("workspace_bytes", "graph_pool_bytes"):
            with self.subTest(name=name):
                step = last_step(prediction=assumptions(**{name: 64 * MIB}))
                self.assertEqual(set(self.grown(step).values()), {64 * MIB})
                self.assertEqual(set(self.grown(step, "reserved").values()), {64 * MIB})
                self.assertEqual(self.held_more(step), 64 * MIB)
                self.assertEqual(step["end_allocated_bytes"] - self.base["end_allocated_bytes"], 64 * MIB)
                self.assertEqual(temporaries(step) - temporaries(self.base), 64 * MIB)

    def test_a_prediction_that_assumes_nothing_is_the_trial_itself(self):
        step = last_step(prediction=None)
        self.assertEqual(set(self.grown(step).values()), {0})

    def test_a_capacity_that_is_too_small_by_a_byte_or_by_an_assumption_runs_out_of_memory(self):
        needed = self.base["lifetime_peak_reserved_bytes"]
        run(memory_limit_bytes=needed).require_success()
        for limit, more in ((needed - 1, {}), (needed + 9 * MIB, {"workspace_bytes": 10 * MIB}), (needed + 9 * MIB, {"graph_pool_bytes": 10 * MIB})):
            with self.subTest(limit=limit, **more):
                failed = run(memory_limit_bytes=limit, prediction=assumptions(**more))
                self.assertEqual(failed.exit_code, OUT_OF_MEMORY, failed.log)
                oom = failed.records["oom"][0]
                self.assertEqual(oom["capacity_bytes"], limit)
                self.assertEqual(sum(part["bytes"] for part in oom["attribution"]), oom["allocated_bytes"])
                assumed = sum(part["bytes"] for part in oom["attribution"] if part["role"] == "temporaries")
                self.assertGreaterEqual(assumed, sum(more.values()))

    def test_what_does_not_fit_by_itself_fails_in_the_build_by_its_name(self):
        for name, scope in (("workspace_bytes", "workspaces"), ("graph_pool_bytes", "graph_pools")):
            oom = run(memory_limit_bytes=8 * MIB, prediction=assumptions(**{name: 16 * MIB})).records["oom"][0]
            self.assertEqual((oom["stage"], oom["phase"], oom["scope"]), ("built", "build", scope))
            self.assertEqual(oom["requested_bytes"], 16 * MIB)

    def test_the_loss_in_place_holds_the_logits_alone(self):
        vocabulary = {"padded_vocab_size": 768}  # so that the forward's peak is at the loss in either form
        step, base = last_step(fields=vocabulary, features={"cross_entropy_gradient": "in_place"}), last_step(fields=vocabulary)
        ours, theirs = (Shapes(document(fields=vocabulary, features={"cross_entropy_gradient": form}), []) for form in ("in_place", "fp32"))
        less = lambda formula: formula(ours) - formula(theirs)
        self.assertEqual(step["forward_end_allocated_bytes"] - base["forward_end_allocated_bytes"], less(label_formulas.logits_kept))
        self.assertEqual(peaks(step)["forward"] - peaks(base)["forward"], less(label_formulas.head_forward_peak))
        self.assertLess(less(label_formulas.head_forward_peak), -1.9 * label_formulas.logits(ours, BF16))

    def test_an_imbalance_gives_the_experts_of_rank_0_that_much_more_and_takes_it_from_the_others(self):
        load = {"kind": "imbalance", "imbalance": 1.1}
        received = [last_step(rank, prediction=assumptions(expert_load=load))["tokens_received"] for rank in range(8)]
        self.assertEqual(self.base["tokens_received"], [CHOICES] * 2)
        self.assertEqual(received[0], [704] * 2)
        for rows in received[1:]:
            self.assertLess(rows[0], CHOICES)
        self.assertEqual(sum(rows[0] for rows in received), 8 * CHOICES)

    def test_expert_tensors_follow_the_load(self):
        histogram = [10, 20, 30, 40, 50, 60, 70, 40]
        for rank, load, rows in ((0, {"kind": "imbalance", "imbalance": 1.1}, 704), (5, {"kind": "histogram", "histogram": histogram}, 8 * 2 * 60),
                                 (0, {"kind": "histogram", "histogram": histogram}, 8 * 2 * 10)):
            with self.subTest(rank=rank, **load):
                step, base = last_step(rank, prediction=assumptions(expert_load=load)), last_step(rank)
                self.assertEqual(step["tokens_received"], [rows] * 2)
                for name, alignment in (("requested", 1), ("allocated", label_formulas.ALIGNMENT)):
                    with mock.patch.object(label_formulas, "ALIGNMENT", alignment):
                        moe = lambda received: label_formulas.moe(Shapes(document(), received))
                        wanted = moe([rows] * 2) - moe([CHOICES] * 2)
                    self.assertNotEqual(wanted, 0)
                    field = f"forward_end_{name}_bytes"
                    self.assertEqual(step[field] - base[field], wanted, name)
                grown = peaks(step)["forward"] - peaks(base)["forward"]
                self.assertEqual(grown > 0, rows > CHOICES)

    def test_a_histogram_of_other_experts_is_refused(self):
        failed = run(prediction=assumptions(expert_load={"kind": "histogram", "histogram": [1, 2, 3]}))
        self.assertEqual(failed.exit_code, 13)
        self.assertIn("expert_load.histogram: wanted one number", failed.log)
        self.assertFalse(failed.records["hello"])

    def test_a_load_of_experts_is_refused_where_there_are_none(self):
        load = {"kind": "imbalance", "imbalance": 1.5}
        failed = run(preset="llama3_tiny", fields={}, prediction=assumptions(expert_load=load))
        self.assertEqual(failed.exit_code, 13)
        self.assertIn("prediction.expert_load: wanted balanced in a model without experts", failed.log)

    def persistent(self, rank=0, **changes):
        return PersistentBytes(document(**changes), rank)

    def test_fusion_adds_the_dummy_gradients(self):
        changes = {"optimizer": {"gradient_accumulation_fusion": True}}
        step, dummies = last_step(**changes), self.persistent(**changes).dummies()
        self.assertGreater(dummies, 0)
        self.assertEqual(self.held_more(step), dummies)
        self.assertEqual(self.grown(step)["forward"], dummies)
        self.assertEqual(self.grown(step)["optimizer"], dummies)

    def test_fp32_gradients_double_their_buffers_and_need_no_copies(self):
        changes = {"optimizer": {"grad_reduce_in_fp32": True}}
        step, theirs, ours = last_step(**changes), self.persistent(), self.persistent(**changes)
        more = ours.grads() - theirs.grads()
        self.assertEqual(self.grown(step)["forward"], more)
        self.assertEqual(self.grown(step)["optimizer"], more - theirs.grad_copies())

    def test_each_byte_mode_of_the_optimizer_moves_every_peak_by_its_state(self):
        aware = {"use_precision_aware_optimizer": True, "exp_avg_dtype": "bf16", "exp_avg_sq_dtype": "bf16"}
        for mode in (aware, {**aware, "fp8_recipe": "tensorwise"}, {**aware, "store_param_remainders": False}, {"use_precision_aware_optimizer": True}):
            with self.subTest(**mode):
                step, theirs, ours = last_step(optimizer=mode), self.persistent(), self.persistent(optimizer=mode)
                state = ours.main() + ours.late() - theirs.main() - theirs.late()
                self.assertLess(state, 0)
                self.assertEqual(self.grown(step)["forward"], state)
                self.assertEqual(self.grown(step)["optimizer"], state + ours.grad_copies() - theirs.grad_copies())

    def test_overlapped_shared_experts_keep_their_gathered_input(self):
        step = last_step(features={"moe_shared_expert_overlap": True})
        gathered = 2 * tensor(640, 32, size=BF16)
        self.assertEqual(self.held_more(step), gathered)
        self.assertEqual(self.grown(step)["forward"], gathered)


if __name__ == "__main__":
    unittest.main()
