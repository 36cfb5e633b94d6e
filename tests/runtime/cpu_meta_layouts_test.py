"""meta allocates what cpu does in every layout: peaks of every phase on every rank, allocated and reserved, what is held between them, and what it
is. Forced balance gives the experts of both the same rows (cpu_meta_test.py); what comes of uneven ones has cases of its own here."""
import unittest

import parallel_contract_test as contract
from cpu_meta import balanced, differences
from parallel_contract_test import DENSE, GDN, HYBRID, MLA, axis
from trainer_runs import dropout_fields, labels_of, run_batch, trial_document

TRAINING = {"seq_length": 64, "micro_batch_size": 1, "global_batch_size": 4, "train_iters": 2}
FULL = {"granularity": "full", "recompute": {"recompute_method": "uniform", "recompute_num_layers": 1}}
MLA_WITH_QUERY_LATENT = "deepseek_v3_tiny"  # wherever MLA is
LIMIT_S = 120


class Case:
    """A layout and the presets that run in it."""

    def __init__(self, world_size, parallel, presets, fields=None, features=None):
        self.world_size, self.parallel, self.features = world_size, parallel, features or {}
        self.presets, self.fields = list(presets), dict(fields or {})
        if MLA in self.presets:
            self.presets.append(MLA_WITH_QUERY_LATENT)
            self.fields[MLA_WITH_QUERY_LATENT] = self.fields.get(MLA, {})

    def documents(self, device):
        """(preset, arm) -> trial."""
        documents = {}
        for preset in self.presets:
            labels = [label for label in labels_of(preset) if label != "shared_experts" or not self.features.get("moe_shared_expert_overlap")]
            fields = {**dropout_fields(0.1), **self.fields.get(preset, {}), **balanced(labels)}
            for name, arm in (("[]", {"modules": []}), ("all labels", {"modules": labels}), ("full", {"modules": None, **FULL})):
                documents[preset, name] = trial_document(preset=preset, device=device, world_size=self.world_size, expert_parallel=1, fields=fields,
                                                         parallel=self.parallel, features=self.features, training=TRAINING, **arm)
        return documents


def contract_cases():
    """The layouts of the parallel contract."""
    for name, layout in vars(contract).items():
        if isinstance(layout, type) and issubclass(layout, contract.Layout) and layout is not contract.Layout:
            yield name, Case(layout.world_size, layout.parallel, layout.presets, layout.fields, layout.features)


MORE_CASES = {
    "experts cut over two ranks": Case(2, axis(tp=2, etp=2, sequence_parallel=True), [MLA, HYBRID, GDN]),
    "experts cut over two ranks and shared by two": Case(4, axis(tp=2, etp=2, ep=2, sequence_parallel=True), [MLA]),
    "pipeline, tensor and experts": Case(8, axis(tp=2, pp=2, ep=2, sequence_parallel=True), [GDN]),
    "context, pipeline": Case(4, axis(cp=2, pp=2), [DENSE, GDN]),
}


class CpuMetaLayoutsTest(unittest.TestCase):
    maxDiff = None

    def test_every_rank_allocates_the_same_on_both_in_every_phase(self):
        for name, case in [*contract_cases(), *MORE_CASES.items()]:
            by_device = []
            for device in ("cpu", "meta"):
                documents = case.documents(device)
                by_device.append(dict(zip(documents, run_batch(list(documents.values()), limit_s=LIMIT_S))))
            for (preset, arm), theirs in by_device[0].items():
                with self.subTest(layout=name, preset=preset, arm=arm):
                    self.check_equal(theirs, by_device[1][preset, arm])

    def check_equal(self, cpu, meta):
        for rank, (theirs, ours) in enumerate(zip(cpu.ranks, meta.ranks)):
            self.assertEqual(len(theirs["step"]), TRAINING["train_iters"])
            for kind in ("model", "step", "bye"):
                self.assertEqual(differences(theirs[kind], ours[kind]), {}, f"{kind} records of rank {rank}")


if __name__ == "__main__":
    unittest.main()
