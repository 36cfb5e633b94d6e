"""Ranks that count as alike, in one pipeline stage and with as many tokens for their experts, ask for the same bytes: all ranks run on meta, at full
widths. What the allocator makes of them differs by the rests of blocks that it does not split (reports/METRICS.md, "Ranks that are alike")."""
import unittest

from parallel_contract_test import axis
from parallel_layout import ParallelLayout
from trainer_runs import run_batch, trial_document

REQUESTED_LIMIT = 1e-6  # where the optimizer's shards are cut: some hundred bytes of rounding
RESERVED_LIMIT = 0.05
MOONLIGHT = {"num_layers": 27, "hidden_size": 2048, "num_attention_heads": 16, "kv_lora_rank": 512, "qk_head_dim": 128, "qk_pos_emb_head_dim": 64,
             "v_head_dim": 128, "ffn_hidden_size": 11264, "num_moe_experts": 64, "moe_router_topk": 6, "moe_ffn_hidden_size": 1408,
             "moe_shared_expert_intermediate_size": 2816, "padded_vocab_size": 163840}  # the preset's own: trial_document makes it small
BYTE_MODE = {"use_precision_aware_optimizer": True, "exp_avg_dtype": "bf16", "exp_avg_sq_dtype": "bf16", "fp8_recipe": "tensorwise"}


class AlikeRanksTest(unittest.TestCase):
    def check(self, num_classes, allocated_limit, **layout):
        document = trial_document([], device="meta", expert_parallel=1, optimizer=BYTE_MODE, **layout)
        records, = run_batch([document])
        classes = {}
        for rank, record in enumerate(records.ranks):
            received = {tuple(step["tokens_received"]) for step in record["step"]}
            self.assertEqual(len(received), 1)
            classes.setdefault((ParallelLayout(document, rank).pipeline_rank, received.pop()), []).append(record)
        self.assertEqual(len(classes), num_classes)
        for (stage, _), ranks in classes.items():
            place = f"{document['model']['preset']} stage {stage}, {len(ranks)} ranks"
            self.check_spread(f"{place}, requested at the end of forward", [rank["step"][-1]["forward_end_requested_bytes"] for rank in ranks], REQUESTED_LIMIT)
            self.check_spread(f"{place}, allocated peak", [rank["bye"][0]["lifetime_peak_allocated_bytes"] for rank in ranks], allocated_limit)
            self.check_spread(f"{place}, reserved peak", [rank["bye"][0]["lifetime_peak_reserved_bytes"] for rank in ranks], RESERVED_LIMIT)

    def check_spread(self, what, of_ranks, limit):
        spread = max(of_ranks) - min(of_ranks)
        print(f"{what}: largest {max(of_ranks)}, spread {spread} ({spread / max(of_ranks):.4%})")
        self.assertLess(spread, limit * max(of_ranks), what)

    def test_the_eight_ranks_of_moonlight(self):
        self.check(1, 1e-3, preset="moonlight_16b", fields=MOONLIGHT, world_size=8, parallel=axis(tp=2, ep=8, sequence_parallel=True),
                   training={"seq_length": 4096, "global_batch_size": 4, "train_iters": 2})

    def test_sixteen_ranks_of_two_pipeline_stages(self):
        self.check(2, 5e-3, preset="qwen3_next_80b", fields={"num_layers": 8}, world_size=16, parallel=axis(tp=2, pp=2, ep=4, sequence_parallel=True),
                   training={"seq_length": 4096, "global_batch_size": 16, "train_iters": 2})


if __name__ == "__main__":
    unittest.main()
