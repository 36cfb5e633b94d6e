"""What each label drops at the end of forward in the widths of the published Moonlight study, in bytes as asked for: its formula, exactly. Three of
the layers, one dense and two of experts; the others are like these two."""
import unittest
from unittest import mock

import label_formulas
from published_layouts import published_document
from trainer_runs import MetaRank

ARMS = [["core_attn"], ["mla_up_proj"], ["mla_up_proj", "mlp"], ["moe_act"], ["layernorm", "moe_act"], ["layernorm"], ["mlp"], ["moe"]]
NUM_LAYERS = 3


def document(modules):
    return published_document("moonlight_16b_8xh100", modules, NUM_LAYERS)


def held(modules):
    return MetaRank(document(modules)).require_success().last_step()


@mock.patch.object(label_formulas, "ALIGNMENT", 1)  # as asked for
class FullWidthTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.control = held([])

    def saving(self, modules):
        return self.control["forward_end_requested_bytes"] - held(modules)["forward_end_requested_bytes"]

    def test_every_label_and_union_of_the_study_drops_its_formula_to_the_byte(self):
        shapes = label_formulas.Shapes(document([]), self.control["tokens_received"])
        for modules in ARMS:
            with self.subTest(modules="+".join(modules)):
                wanted = label_formulas.dropped_bytes(modules, shapes)
                self.assertGreater(wanted, 0)
                self.assertEqual(self.saving(modules), wanted)

    def test_the_formulas_are_these_numbers(self):
        tokens, rows, heads = 4096, 2048, 8  # a rank has half of the heads, and of the residual stream's rows
        received = 2048 * 6  # by the experts of a rank, each of 8 ranks sending an eighth of its choices
        self.assertEqual(self.control["tokens_received"], [received] * 2)
        norm_of = lambda width: rows * width * 2 + rows * 4
        up_proj = tokens * heads * (192 + 192 + 128) * 2 + norm_of(512) - tokens * 64 * 2
        dense = norm_of(2048) + tokens * (2 * 11264 // 2) * 2 + tokens * (11264 // 2) * 2
        act = received * 1408 * 2
        self.assertEqual(self.saving(["core_attn"]), 3 * tokens * heads * 4)
        self.assertEqual(self.saving(["mla_up_proj"]), 3 * up_proj)
        self.assertEqual(self.saving(["mla_up_proj", "mlp"]), 3 * up_proj + dense)
        self.assertEqual(self.saving(["moe_act"]), 2 * act)
        self.assertEqual(self.saving(["layernorm", "moe_act"]), 2 * act + 5 * norm_of(2048))

    def test_without_the_allocators_rounding_no_more_is_asked_for_than_allocated(self):
        self.assertLess(self.control["forward_end_requested_bytes"], self.control["forward_end_allocated_bytes"])


if __name__ == "__main__":
    unittest.main()
