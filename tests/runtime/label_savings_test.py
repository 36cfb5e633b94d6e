"""Each label lowers the activation peak by its formula, to the byte: of the first sweep's model on every rank and in every step, and of every family."""
import pathlib
import unittest

import yaml

import label_formulas
from recompute_gate_test import LABELS
from trainer_runs import TINY_TRAINING, Run, activation_peak, describe, dropout_fields, labels_of, tiny_presets, trial_document

SWEEP = yaml.safe_load((pathlib.Path(__file__).resolve().parents[2] / "sweeps" / "first.yaml").read_text())
UNIONS = [["mla_up_proj", "mlp"], ["layernorm", "moe_act"]]


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
        for modules in LABELS + UNIONS:
            arm = Run(trial_document(modules, **self.layout)).require_success()
            for rank, (ours, theirs) in enumerate(zip(arm.ranks, self.control.ranks)):
                for step, control_step in zip(ours["step"], theirs["step"]):
                    with self.subTest(modules="+".join(modules), rank=rank, step=step["step"]):
                        shapes = label_formulas.Shapes(self.document, step["tokens_received"])
                        wanted = label_formulas.dropped_bytes(modules, shapes)
                        saved = activation_peak(control_step) - activation_peak(step)
                        self.assertEqual(saved, wanted)


class EveryFamily(unittest.TestCase):
    """Each label, the unions and full recompute on the tiny preset of each family: to the byte. The control's peak sits at the loss, where every
    layer's activations are held; so does the arm's, and the peak drops as much as what is held at the end of forward, but where a replay binds."""
    UNIONS = [["core_attn", "mlp"], ["mla_up_proj", "mlp"], ["layernorm", "moe_act"], ["moe", "layernorm"], ["gdn_norm_out", "moe_act"]]
    # These presets have 8 attention heads, the others 4: one layer's scores and probabilities, back in its replay, are more than the loss holds.
    REPLAY_BINDS = {(preset, "unfused", arm) for preset in ("llama3_tiny", "nemotron_3_nano_tiny") for arm in ("core_attn", "core_attn+mlp")}

    def arms_of(self, preset):
        labels = labels_of(preset)
        return [[label] for label in labels] + [union for union in self.UNIONS if set(union) <= set(labels)]

    def test_labels_unions_and_full_recompute_hold_what_their_formulas_say(self):
        families = {preset["family"] for preset in describe()["presets"] if preset["name"] in tiny_presets()}
        self.assertEqual(families, {family["name"] for family in describe()["families"]}, "a family without a tiny preset")
        for preset in tiny_presets():
            for attention in ("fused", "unfused"):
                for dropout in (0.0, 0.1):
                    self.check(preset, attention, dropout_fields(dropout))

    def check(self, preset, attention, fields):
        layout = {"preset": preset, "attention": attention, "fields": fields, "training": TINY_TRAINING, "world_size": 1, "expert_parallel": 1}
        document = trial_document([], **layout)
        control = self.last_step(document)
        for labels in self.arms_of(preset):
            arm = "+".join(labels)
            with self.subTest(preset=preset, attention=attention, arm=arm, **fields):
                step = self.last_step(trial_document(labels, **layout))
                self.assertEqual(step["tokens_received"], control["tokens_received"])
                wanted = label_formulas.dropped_bytes(labels, label_formulas.Shapes(document, step["tokens_received"]))
                self.assertGreater(wanted, 0)
                self.assertEqual(control["forward_end_allocated_bytes"] - step["forward_end_allocated_bytes"], wanted)
                saved = activation_peak(control) - activation_peak(step)
                if (preset, attention, arm) in self.REPLAY_BINDS:
                    self.assertTrue(0 < saved < wanted, f"saved {saved} of {wanted} bytes: take the arm out of REPLAY_BINDS")
                else:
                    self.assertEqual(saved, wanted)
        with self.subTest(preset=preset, attention=attention, arm="full:uniform:1", **fields):
            uniform = {"recompute_method": "uniform", "recompute_num_layers": 1}
            step = self.last_step(trial_document(None, granularity="full", recompute=uniform, **layout))
            held = step["forward_end_allocated_bytes"] - step["phases"]["grad_sync"]["peak_allocated_bytes"]
            self.assertEqual(held, label_formulas.full(label_formulas.Shapes(document, step["tokens_received"])))
            self.assertLess(activation_peak(step), activation_peak(control))

    @staticmethod
    def last_step(document):
        """Of a single rank: nothing is sent between ranks, so grad_sync holds what persists and no more."""
        return Run(document).require_success().ranks[0]["step"][-1]


if __name__ == "__main__":
    unittest.main()
