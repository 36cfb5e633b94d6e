"""Sweeps that must not start, against the real trainer's description of itself: exit 3, a message with its place, and no trial."""
import unittest

from workspace import TINY_SWEEP, Workspace

CONTROL = "  control: {recompute_granularity: selective, recompute_modules: []}\n"

# What is changed in a valid sweep, and words that the message must hold.
CASES = {
    "no control": (CONTROL, "", ["control"]),
    "modules unset": (CONTROL, "  control: {recompute_granularity: selective}\n", ["recompute_modules", "core_attn"]),
    "unknown label": ("[moe_act, moe]", "[moe_akt, moe]", ["moe_akt", "moe_act"]),
    "unknown key": ("  hidden_size: 64", "  hiden_size: 64", ["hiden_size", "hidden_size"]),
    "wrong unit": ("timeout: 60s", "timeout: 60parsecs", ["60parsecs", "min"]),
    "missing unit": ("attention: fused}", "attention: fused, memory_limit: 2}", ["memory_limit", "GiB"]),
    "degree that does not divide": ("expert_model_parallel_size: 2", "expert_model_parallel_size: 3", ["3", "2"]),
    "experts that do not divide": ("num_moe_experts: 8", "num_moe_experts: 7", ["7", "2"]),
    "device that this trainer lacks": ("device: cpu", "device: tpu", ["tpu", "cpu"]),
}


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


class InvalidSweep(unittest.TestCase):
    def refuse(self, text, verb="run"):
        workspace = Workspace(self)
        sweep = workspace.write_sweep(text)
        result = workspace.rematch(verb, sweep)
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertEqual(workspace.files("*"), [], "nothing may be started")
        self.assertIn("sweep.yaml:", result.stderr)
        return result.stderr

    def test_the_sweep_that_the_cases_change_is_valid(self):
        workspace = Workspace(self)
        result = workspace.rematch("plan", workspace.write_sweep(TINY_SWEEP))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(workspace.files("*"), [], "plan starts nothing")

    def test_each_broken_sweep_is_refused_with_its_reason(self):
        for name, (part, replacement, words) in CASES.items():
            with self.subTest(name):
                self.assertEqual(TINY_SWEEP.count(part), 1)
                message = self.refuse(TINY_SWEEP.replace(part, replacement))
                for word in words:
                    self.assertIn(word, message)

    def test_a_wrong_value_is_named_with_line_and_column(self):
        for name in ("unknown key", "wrong unit", "device that this trainer lacks"):
            part, replacement, _ = CASES[name]
            with self.subTest(name):
                message = self.refuse(TINY_SWEEP.replace(part, replacement))
                self.assertRegex(message, rf"sweep\.yaml:{line_of(TINY_SWEEP, part)}:\d+: ")

    def test_every_problem_is_named_in_one_go(self):
        text = TINY_SWEEP
        for name in ("unknown label", "unknown key", "wrong unit"):
            text = text.replace(*CASES[name][:2])
        message = self.refuse(text, verb="plan")
        for word in ("moe_akt", "hiden_size", "60parsecs"):
            self.assertIn(word, message)
