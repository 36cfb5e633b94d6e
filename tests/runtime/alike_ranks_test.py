"""Ranks that count as alike, in one pipeline stage and with as many tokens for their experts, ask for the same bytes: all ranks run on meta, at full
widths. What the allocator makes of them differs by the rests of blocks that it does not split (reports/METRICS.md, "Ranks that are alike")."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from parallel_contract_test import axis
from parallel_layout import ParallelLayout
from trainer_runs import BIN, LIMIT_S, assumptions, run_batch, trial_document

REQUESTED_LIMIT = 1e-6  # where the optimizer's shards are cut: some hundred bytes of rounding
RESERVED_LIMIT = 0.05
MOONLIGHT = {"num_layers": 27, "hidden_size": 2048, "num_attention_heads": 16, "kv_lora_rank": 512, "qk_head_dim": 128, "qk_pos_emb_head_dim": 64,
             "v_head_dim": 128, "ffn_hidden_size": 11264, "num_moe_experts": 64, "moe_router_topk": 6, "moe_ffn_hidden_size": 1408,
             "moe_shared_expert_intermediate_size": 2816, "padded_vocab_size": 163840}  # the preset's own: trial_document makes it small
BYTE_MODE = {"use_precision_aware_optimizer": True, "exp_avg_dtype": "bf16", "exp_avg_sq_dtype": "bf16", "fp8_recipe": "tensorwise"}


def classes_of(document):
    """The product's own."""
    with tempfile.TemporaryDirectory(prefix="rematch-classes-") as folder:
        trial = pathlib.Path(folder) / "trial.json"
        trial.write_text(json.dumps(document))
        ended = subprocess.run([str(BIN / "rank_classes"), str(trial)], capture_output=True, text=True, timeout=LIMIT_S)
        if ended.returncode:
            raise AssertionError(ended.stderr)
        return json.loads(ended.stdout)


class AlikeRanksTest(unittest.TestCase):
    def check(self, num_classes, allocated_limit, expert_load=None, **layout):
        prediction = assumptions(expert_load=expert_load or {})
        document = trial_document([], device="meta", expert_parallel=1, optimizer=BYTE_MODE, prediction=prediction, **layout)
        records, = run_batch([document])
        classes = classes_of(document)
        self.assertEqual(len(classes), num_classes)
        self.check_rows(document, classes, records)
        for numbers in classes:
            ranks = [records.ranks[number] for number in numbers]
            stage = ParallelLayout(document, numbers[0]).pipeline_rank
            place = f"{document['model']['preset']} stage {stage}, {len(ranks)} ranks"
            self.check_spread(f"{place}, requested at the end of forward", [rank["step"][-1]["forward_end_requested_bytes"] for rank in ranks], REQUESTED_LIMIT)
            self.check_spread(f"{place}, allocated peak", [rank["bye"][0]["lifetime_peak_allocated_bytes"] for rank in ranks], allocated_limit)
            self.check_spread(f"{place}, reserved peak", [rank["bye"][0]["lifetime_peak_reserved_bytes"] for rank in ranks], RESERVED_LIMIT)

    def check_rows(self, document, classes, records):
        """One stage and one number of rows in a class, and no two classes with the same of both."""
        found = []
        for numbers in classes:
            of_class = {(ParallelLayout(document, number).pipeline_rank, tuple(step["tokens_received"]))
                        for number in numbers for step in records.ranks[number]["step"]}
            self.assertEqual(len(of_class), 1, numbers)
            found += of_class
        self.assertEqual(len(set(found)), len(classes), found)

    def check_spread(self, what, of_ranks, limit):
        spread = max(of_ranks) - min(of_ranks)
        print(f"{what}: largest {max(of_ranks)}, spread {spread} ({spread / max(of_ranks):.4%})")
        self.assertLess(spread, limit * max(of_ranks), what)

    def test_the_eight_ranks_of_moonlight(self):
        self.check(1, 1e-3, preset="moonlight_16b", fields=MOONLIGHT, world_size=8, parallel=axis(tp=2, ep=8, sequence_parallel=True),
                   training={"seq_length": 4096, "global_batch_size": 4, "train_iters": 2})

    def test_an_imbalance_sets_ranks_apart_by_their_rows(self):
        # 12288 choices a rank: 1689.6 for the first rank's experts, 1514.06 for those of each other; rounding gives the second some more.
        self.check(3, 1e-3, preset="moonlight_16b", fields=MOONLIGHT, world_size=8,
                   parallel=axis(tp=2, ep=8, sequence_parallel=True), expert_load={"kind": "imbalance", "imbalance": 1.1},
                   training={"seq_length": 4096, "global_batch_size": 4, "train_iters": 2})

    def test_a_balanced_load_that_does_not_divide_sets_ranks_apart(self):
        self.check(2, 5e-3, preset="qwen3_next_80b", fields={"num_layers": 4}, world_size=4, parallel=axis(ep=4),
                   training={"seq_length": 100, "global_batch_size": 4, "train_iters": 2})

    def test_sixteen_ranks_of_two_pipeline_stages(self):
        self.check(2, 5e-3, preset="qwen3_next_80b", fields={"num_layers": 8}, world_size=16, parallel=axis(tp=2, pp=2, ep=4, sequence_parallel=True),
                   training={"seq_length": 4096, "global_batch_size": 16, "train_iters": 2})


if __name__ == "__main__":
    unittest.main()
