"""What a prediction costs does not grow with the ranks of the job: of 1,024 ranks one of each pipeline stage is run, with little memory and as few
operations and blocks as in a small job."""
import pathlib
import sys
import tempfile
import unittest

from parallel_contract_test import axis
from trainer_runs import TRAINER, trial_document

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "meta_rank"))
from measured_rank import MeasuredRank  # noqa: E402

STAGES, MICRO_BATCHES = 8, 16
LIMIT_BYTES = 300e6  # of resident memory, LibTorch's code included
LIMIT_BLOCKS = 100_000  # in three steps


def document(world_size, expert_parallel):
    return trial_document([], preset="qwen3_next_80b", device="meta", world_size=world_size, expert_parallel=1,
                          parallel=axis(tp=2, pp=STAGES, ep=expert_parallel, etp=1, sequence_parallel=True),
                          training={"seq_length": 4096, "global_batch_size": MICRO_BATCHES * world_size // (2 * STAGES), "train_iters": 3})


class Prediction:
    """Of one rank: its steps, the operations that each counted, the blocks that it allocated and its largest resident set in bytes."""

    def __init__(self, trial, rank):
        with tempfile.TemporaryDirectory(prefix="rematch-blocks-") as folder:
            trace = pathlib.Path(folder) / "trace"
            measured = MeasuredRank(TRAINER, trial, rank, ["--allocation-trace", trace])
            self.num_blocks = trace.read_text().count("\nallocate ")
        self.steps = [record for record in measured.records if record["t"] == "step"]
        self.num_kernels = [sum(work["num_kernels"] for work in step["work"]) for step in self.steps]
        self.rss_bytes = measured.rss_bytes


class ThousandRanksTest(unittest.TestCase):
    def test_each_stage_of_a_thousand_ranks_is_predicted_in_little_memory(self):
        trial = document(1024, expert_parallel=32)
        for stage in range(STAGES):
            with self.subTest(stage=stage):
                prediction = Prediction(trial, stage * 1024 // STAGES)
                self.assertEqual(len(prediction.steps), 3)
                self.assertLess(prediction.num_blocks, LIMIT_BLOCKS)
                self.assertLess(prediction.rss_bytes, LIMIT_BYTES)

    def test_a_rank_costs_no_more_in_a_job_of_more_ranks(self):
        # Less, even: its share of the optimizer's state has fewer pieces.
        few, many = (Prediction(document(world_size, expert_parallel=8), 0) for world_size in (128, 8192))
        self.assertGreater(many.num_kernels[0], 0)
        self.assertLessEqual(many.num_kernels, few.num_kernels)
        self.assertLessEqual(many.num_blocks, few.num_blocks)
        self.assertLess(many.rss_bytes, 1.1 * few.rss_bytes)


if __name__ == "__main__":
    unittest.main()
