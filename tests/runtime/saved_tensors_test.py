"""rematch-train --saved-tensors: every layer, and every label's regions, hold what the formulas say, to the byte; and nothing else is held."""
import json
import pathlib
import tempfile
import unittest

import label_formulas
import layer_formulas
from trainer_runs import TINY_TRAINING, Run, dropout_fields, labels_of, run_ranks, tiny_presets, trial_document

JITTER = {"moe_input_jitter_eps": 0.01}


class SavedTensors:
    """The totals of one rank's table."""

    def __init__(self, text):
        tensors, *totals = [[line.split() for line in block.splitlines()] for block in text.split("\n\n")]
        self.layers, self.regions, _ = [{row[0]: int(row[-1]) for row in rows[1:]} for rows in totals]
        self.total = {" ".join(row[:-1]): int(row[-1]) for row in totals[2][1:]}
        self.sum_of_lines = sum(int(row[-1]) for row in tensors[1:])

    def in_regions_of(self, label):
        return sum(size for region, size in self.regions.items() if label in region.split("/"))


def saved_tensors(document):
    """Of each rank."""
    with tempfile.TemporaryDirectory(prefix="rematch-saved-") as folder:
        trial = pathlib.Path(folder) / "trial.json"
        trial.write_text(json.dumps(document))
        exit_codes, outputs = run_ranks(["--trial", str(trial), "--saved-tensors"], document["parallel"]["world_size"], stderr=None)
    if any(exit_codes):
        raise AssertionError(f"ranks ended with {exit_codes}")
    return [SavedTensors(text) for text in outputs]


class SavedTensorsCheck:
    """For test cases."""

    def check(self, table, shapes, labels):
        layers = list(layer_formulas.layers(shapes))
        wanted = {f"layers.{index}": layer_formulas.layer_bytes(layer, labels) for index, layer in enumerate(layers)}
        outer = {"embedding": layer_formulas.embedding(shapes), "output_layer": layer_formulas.output_layer(shapes)}
        self.assertEqual(table.layers, {**wanted, **outer})
        for label in labels:
            self.assertEqual(table.in_regions_of(label), layer_formulas.in_regions_of([label], shapes), label)
        self.assertEqual(table.regions["-"], sum(map(layer_formulas.outside_labels, layers)) + sum(outer.values()))
        held = sum(table.layers.values())
        self.assertEqual(table.sum_of_lines, held)
        other = layer_formulas.held_by_no_operation(shapes)
        self.assertEqual(table.total, {"saved tensors": held, "held by other tensors": other, "held in all": held + other})


class SavedTensorsTest(SavedTensorsCheck, unittest.TestCase):
    def test_every_layer_of_every_tiny_preset_holds_its_formula_to_the_byte(self):
        for preset in tiny_presets():
            labels = labels_of(preset)
            for attention in ("fused", "unfused"):
                for dropout in (0.0, 0.1):
                    for noise in ({}, JITTER) if "moe" in labels else ({},):
                        fields = {**dropout_fields(dropout), **noise}
                        with self.subTest(preset=preset, attention=attention, **fields):
                            self.check_one_rank(preset, attention, fields)

    def check_one_rank(self, preset, attention, fields):
        document = trial_document([], preset=preset, attention=attention, fields=fields, world_size=1, expert_parallel=1, training=TINY_TRAINING)
        choices = TINY_TRAINING["seq_length"] * TINY_TRAINING["micro_batch_size"] * document["model"]["fields"].get("moe_router_topk", 0)
        kinds = label_formulas.layer_kinds(document["model"]["family"], document["model"]["fields"])
        received = [choices] * sum(mlp == "moe" for _, mlp in kinds)  # all experts are here
        [table] = saved_tensors(document)
        self.check(table, label_formulas.Shapes(document, received), labels_of(preset))

    def test_two_ranks_that_share_the_experts_hold_their_formulas_to_the_byte(self):
        training = {**TINY_TRAINING, "global_batch_size": 4, "train_iters": 1}
        document = trial_document([], preset="moonlight_tiny", world_size=2, expert_parallel=2, training=training)
        received = [rank["step"][0]["tokens_received"] for rank in Run(document).require_success().ranks]
        self.assertNotEqual(*received)
        for rank, table in enumerate(saved_tensors(document)):
            with self.subTest(rank=rank):
                self.check(table, label_formulas.Shapes(document, received[rank]), labels_of("moonlight_tiny"))

    def test_a_label_leaves_nothing_in_its_regions(self):
        for preset in tiny_presets():
            for label in labels_of(preset):
                with self.subTest(preset=preset, label=label):
                    [table] = saved_tensors(trial_document([label], preset=preset, world_size=1, expert_parallel=1, training=TINY_TRAINING))
                    self.assertEqual(table.in_regions_of(label), 0)


if __name__ == "__main__":
    unittest.main()
