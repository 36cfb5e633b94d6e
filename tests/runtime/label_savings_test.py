"""Each label lowers the activation peak of the first sweep's model by its formula, within 2 %, on every rank and in every step."""
import pathlib
import unittest

import yaml

import label_formulas
from recompute_gate_test import LABELS
from trainer_runs import TINY_TRAINING, Run, activation_peak, dropout_fields, labels_of, tiny_presets, trial_document

SWEEP = yaml.safe_load((pathlib.Path(__file__).resolve().parents[2] / "sweeps" / "first.yaml").read_text())
GUIDE = [["mla_up_proj", "mlp"], ["layernorm", "moe_act"]]


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


class EveryFamily(unittest.TestCase):
    """Each label's drop at the end of forward, and of the activation peak, on the tiny preset of each family: to the byte. The peak sits at the
    loss, where every layer's activations are held."""

    def test_every_label_drops_its_formula_to_the_byte(self):
        for preset in tiny_presets():
            for attention in ("fused", "unfused"):
                for dropout in (0.0, 0.1):
                    self.check(preset, attention, dropout_fields(dropout))

    def check(self, preset, attention, fields):
        layout = {"preset": preset, "attention": attention, "fields": fields, "training": TINY_TRAINING, "world_size": 1, "expert_parallel": 1}
        document = trial_document([], **layout)
        control = Run(document).require_success().ranks[0]["step"][-1]
        for label in labels_of(preset):
            with self.subTest(preset=preset, attention=attention, label=label, **fields):
                step = Run(trial_document([label], **layout)).require_success().ranks[0]["step"][-1]
                self.assertEqual(step["tokens_received"], control["tokens_received"])
                wanted = label_formulas.dropped_bytes([label], label_formulas.Shapes(document, step["tokens_received"]))
                self.assertGreater(wanted, 0)
                self.assertEqual(control["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"], wanted)


if __name__ == "__main__":
    unittest.main()
