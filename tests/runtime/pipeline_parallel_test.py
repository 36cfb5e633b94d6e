"""What is peculiar to pipeline parallelism, on real Gloo ranks: slots, messages, micro-batches in flight, sites a chunk, and what every rank is
told. That losses and gradients are right is parallel_contract_test's."""
import json
import pathlib
import tempfile
import unittest

import label_formulas
import layer_formulas
from trainer_runs import Run, labels_of, run_batch, run_ranks, trial_document

DENSE = "llama3_tiny"
BF16 = 2
TRAINING = {"seq_length": 64, "micro_batch_size": 1, "train_iters": 2}
BAD_TRIAL = 13


def pipeline_document(ranks, num_micro_batches, chunks=None, modules=None, preset=DENSE, **changes):
    parallel = {"pipeline_model_parallel_size": ranks, "virtual_pipeline_model_parallel_size": chunks, **changes.pop("parallel", {})}
    return trial_document(modules if modules is not None else [], preset=preset, world_size=ranks, expert_parallel=1, parallel=parallel,
                          training={**TRAINING, "global_batch_size": num_micro_batches}, **changes)


def stream_bytes(document):
    return document["training"]["seq_length"] * document["training"]["micro_batch_size"] * document["model"]["fields"]["hidden_size"] * BF16


class SlotsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = pipeline_document(2, 4, chunks=2)
        cls.records = run_batch([cls.document])[0]

    def slots(self, rank):
        text = lambda slot: f"{slot['phase'][0].upper()}{slot['micro_batch']}.{slot['model_chunk']}"
        return " ".join(text(slot) for slot in self.records.ranks[rank]["step"][-1]["slots"])

    def test_stand_in_the_order_of_the_interleaved_schedule(self):
        self.assertEqual(self.slots(0), "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0")
        self.assertEqual(self.slots(1), "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0")

    def test_fold_into_the_phases(self):
        for rank in self.records.ranks:
            for step in rank["step"]:
                for phase in ("forward", "backward"):
                    slots = [slot for slot in step["slots"] if slot["phase"] == phase]
                    self.assertEqual(max(slot["peak_allocated_bytes"] for slot in slots), step["phases"][phase]["peak_allocated_bytes"])
                    self.assertEqual(sum(slot["duration_ns"] for slot in slots), step["phases"][phase]["duration_ns"])

    def test_are_none_without_a_pipeline(self):
        records, = run_batch([pipeline_document(1, 2)])
        self.assertEqual([step["slots"] for step in records.ranks[0]["step"]], [[], []])


class MessagesTest(unittest.TestCase):
    """Every micro-batch crosses each boundary of virtual stages once forward and once back, as one stream of bf16."""

    def check(self, document, sends_forward):
        one, num = stream_bytes(document), document["training"]["global_batch_size"]
        records, = run_batch([document])
        for rank, wanted in zip(records.ranks, sends_forward):
            for step in rank["step"]:
                found = {(count["pass"], count["operation"]): (count["num_calls"], count["bytes"]) for count in step["communication"]
                         if count["axis"] == "pp" and count["operation"] in ("send", "receive")}
                crossings = {("forward", "send"): wanted[0], ("forward", "receive"): wanted[1],
                             ("backward", "send"): wanted[1], ("backward", "receive"): wanted[0]}
                self.assertEqual(found, {key: (num * count, num * count * one) for key, count in crossings.items() if count})

    def test_of_1f1b(self):
        self.check(pipeline_document(4, 5), [(1, 0), (1, 1), (1, 1), (0, 1)])

    def test_of_interleaved_chunks(self):
        self.check(pipeline_document(2, 4, chunks=2), [(2, 1), (1, 2)])


class SameNumbersTest(unittest.TestCase):
    """A pipeline sums nothing in another order than one rank: losses and gradients of a dense model are the same to the bit, step after step."""

    def test_losses_and_gradients_equal_those_of_one_rank(self):
        fields = {"num_layers": 8}
        alone, = run_batch([pipeline_document(1, 4, fields=fields)])
        for ranks, chunks in ((2, None), (4, None), (2, 2), (2, 4), (4, 2)):
            with self.subTest(ranks=ranks, chunks=chunks):
                piped, = run_batch([pipeline_document(ranks, 4, chunks=chunks, fields=fields)])
                self.assertEqual(piped.loss_bits(), alone.loss_bits() * ranks)
                first_step = lambda gradients: {name: hash_ for (step, name), hash_ in gradients.items() if step == 0}
                ours = {name: hash_ for gradients in piped.gradients for name, hash_ in first_step(gradients).items()}
                self.assertEqual(ours, first_step(alone.gradients[0]))


class InFlightTest(unittest.TestCase):
    """Of each micro-batch in flight a rank holds what its layers keep, and what embedding or head keep: to the byte."""
    RANKS = 3

    @staticmethod
    def held_of_one(document, rank):
        shapes = label_formulas.Shapes(document, [], rank)
        held = sum(layer_formulas.layer_bytes(layer, labels_of(DENSE)) for layer in layer_formulas.layers(shapes))
        if shapes.has_embedding:
            held += layer_formulas.embedding(shapes)
        if shapes.has_head:
            held += layer_formulas.output_layer(shapes) + layer_formulas.held_by_no_operation(shapes)
        return held

    def test_held_bytes_grow_with_the_micro_batches_in_flight(self):
        documents = [pipeline_document(self.RANKS, num, fields={"num_layers": 6}) for num in (1, 2, 3, 4, 5)]
        runs = run_batch(documents)
        held = lambda run, rank: run.ranks[rank]["step"][-1]["forward_end_allocated_bytes"]
        for document, run in zip(documents, runs):
            num = document["training"]["global_batch_size"]
            for rank in range(self.RANKS):
                in_flight = min(num, self.RANKS - rank)
                with self.subTest(num_micro_batches=num, rank=rank):
                    self.assertEqual(held(run, rank) - held(runs[0], rank), (in_flight - 1) * self.held_of_one(document, rank))


class ChunkSitesTest(unittest.TestCase):
    """Full recompute counts layers chunk by chunk; labels count over all chunks of the rank."""

    def sites(self, **changes):
        records, = run_batch([pipeline_document(2, 2, chunks=2, fields={"num_layers": 8}, **changes)])
        return [rank["model"][0]["sites"] for rank in records.ranks]

    def test_block_takes_so_many_layers_of_each_chunk(self):
        self.assertEqual(self.sites(granularity="full", recompute={"recompute_method": "block", "recompute_num_layers": 1}), [{"full": 2}] * 2)

    def test_uniform_groups_end_with_their_chunk(self):
        self.assertEqual(self.sites(granularity="full", recompute={"recompute_method": "uniform", "recompute_num_layers": 3}), [{"full": 2}] * 2)

    def test_labels_have_their_layers_on_each_rank(self):
        self.assertEqual(self.sites(modules=["mlp"]), [{"mlp": 4}] * 2)


class WholeJobTest(unittest.TestCase):
    """What a rank says of the whole job is the same on all of them, and as without a pipeline."""
    PRESET = "qwen3_next_tiny"

    def test_every_rank_knows_loss_norm_auxiliary_loss_and_size_of_the_model(self):
        alone, = run_batch([pipeline_document(1, 4, preset=self.PRESET)])
        piped, = run_batch([pipeline_document(2, 4, preset=self.PRESET)])
        total = alone.ranks[0]["model"][0]["num_parameters_total"]
        self.assertEqual(sum(rank["model"][0]["num_parameters_local"] for rank in piped.ranks), total)
        for rank in piped.ranks:
            model = rank["model"][0]
            self.assertEqual((model["num_parameters_total"], model["flops_per_step"]), (total, alone.ranks[0]["model"][0]["flops_per_step"]))
            for ours, first, theirs in zip(rank["step"], piped.ranks[0]["step"], alone.ranks[0]["step"]):
                for key in ("loss_bits", "grad_norm", "aux_losses"):
                    self.assertEqual(ours[key], first[key])
                # One rounding of bf16 gradients a micro-batch in both; the order of micro-batches is the same.
                self.assertAlmostEqual(ours["loss"] / theirs["loss"], 1, delta=1e-5)
                self.assertAlmostEqual(ours["grad_norm"] / theirs["grad_norm"], 1, delta=1e-3)
                name, = theirs["aux_losses"]
                self.assertAlmostEqual(ours["aux_losses"][name] / theirs["aux_losses"][name], 1, delta=1e-5)


class RefusalTest(unittest.TestCase):
    def refusal(self, document):
        run = Run(document)
        self.assertEqual(set(run.exit_codes), {BAD_TRIAL})
        return run.logs[0]

    def test_a_split_that_does_not_divide_is_refused_with_the_numbers(self):
        self.assertIn("num_layers 4: wanted a multiple of the 3 pipeline ranks", self.refusal(pipeline_document(3, 4)))

    def test_micro_batches_that_are_no_whole_groups_are_refused(self):
        self.assertIn("wanted a multiple of pipeline_model_parallel_size 2", self.refusal(pipeline_document(2, 3, chunks=2)))


class SavedTensorsTest(unittest.TestCase):
    def test_each_rank_lists_its_own_layers(self):
        with tempfile.TemporaryDirectory(prefix="rematch-saved-") as folder:
            trial = pathlib.Path(folder) / "trial.json"
            trial.write_text(json.dumps(pipeline_document(2, 2, chunks=2)))
            exit_codes, tables = run_ranks(["--trial", str(trial), "--saved-tensors"], 2)
        self.assertEqual(exit_codes, [0, 0], tables)
        modules = [{line.split()[0] for line in table.splitlines() if line.strip()} for table in tables]
        layers = [{module.split(".")[1] for module in rank if module.startswith("layers.")} for rank in modules]
        self.assertEqual(layers, [{"0", "2"}, {"1", "3"}])
        self.assertEqual(["embedding" in rank for rank in modules], [True, False])
        self.assertEqual(["output_layer" in rank for rank in modules], [False, True])


if __name__ == "__main__":
    unittest.main()
