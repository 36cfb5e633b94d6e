"""Each label lowers the activation peak of the first sweep's model by its formula, within 2 %, on every rank and in every step."""
import pathlib
import unittest

import yaml

import label_formulas
from recompute_gate_test import LABELS
from trainer_runs import Run, activation_peak, trial_document

SWEEP = yaml.safe_load((pathlib.Path(__file__).resolve().parents[2] / "sweeps" / "first.yaml").read_text())
GUIDE = [["mla_up_proj", "mlp"], ["layernorm", "moe_act"]]
# Labels that do not drop what the table of Megatron's saved tensors says, with the reason. They are held to our own formula instead
# (reports/METRICS.md, "What a label drops"). No other reason is needed at these sizes: the peak is at the loss, where every layer's activations
# are held, and no tensor that a label drops is so large (over 1 MiB) that the allocator leaves an unsplit rest at its block.
EXCEPTIONS = {
    "moe": "this router keeps the chosen scores and experts (12 bytes a choice) and two row maps; the table has 5 to 6 fp32 tensors of tokens "
           "times experts and a fused row map",
    "core_attn": "the table calls it about nothing for fused attention; here it is the log-sum-exp, to the byte",
}


class LabelSavings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        training = {name: SWEEP["training"][name] for name in ("seq_length", "micro_batch_size", "global_batch_size", "seed")}
        fields = {name: value for name, value in SWEEP["model"].items() if name != "preset"}
        cls.layout = {"fields": fields, "training": {**training, "train_iters": 3}}
        cls.document = trial_document([], **cls.layout)
        cls.control = Run(cls.document).require_success()

    def test_activations_make_more_than_half_of_the_peak(self):
        for rank in self.control.ranks:
            step = rank["step"][-1]
            held_without_activations = step["phases"]["grad_sync"]["peak_allocated_bytes"]
            self.assertLess(held_without_activations, 0.5 * activation_peak(step))

    def test_every_label_lowers_the_activation_peak_by_its_formula(self):
        for modules in LABELS + GUIDE:
            arm = Run(trial_document(modules, **self.layout)).require_success()
            for rank, (ours, theirs) in enumerate(zip(arm.ranks, self.control.ranks)):
                for step, control_step in zip(ours["step"], theirs["step"]):
                    with self.subTest(modules="+".join(modules), rank=rank, step=step["step"]):
                        shapes = label_formulas.Shapes(self.document, step["tokens_received"])
                        wanted = label_formulas.dropped_bytes(modules, shapes)
                        saved = activation_peak(control_step) - activation_peak(step)
                        self.assertAlmostEqual(saved / wanted, 1, delta=0.02, msg=f"saved {saved} bytes, the formula says {wanted}")

    def test_every_exception_is_a_label_that_is_held_to_our_own_formula(self):
        self.assertLessEqual(set(EXCEPTIONS), set(label_formulas.FORMULAS))


if __name__ == "__main__":
    unittest.main()
