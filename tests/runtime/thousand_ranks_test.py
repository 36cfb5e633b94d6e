"""What a prediction costs does not grow with the ranks of the job: of 1,024 ranks one of each pipeline stage is run, in seconds and little memory."""
import json
import os
import pathlib
import tempfile
import unittest

from parallel_contract_test import axis
from trainer_runs import rank_environment, read_lines, start_rank, trial_document

STAGES, MICRO_BATCHES = 8, 16
LIMIT_S = 20  # of one rank; it takes less than one second
LIMIT_BYTES = 500e6


def document(world_size, expert_parallel):
    return trial_document([], preset="qwen3_next_80b", device="meta", world_size=world_size, expert_parallel=1,
                          parallel=axis(tp=2, pp=STAGES, ep=expert_parallel, etp=1, sequence_parallel=True),
                          training={"seq_length": 4096, "global_batch_size": MICRO_BATCHES * world_size // (2 * STAGES), "train_iters": 3})


def predict(trial, rank):
    """The rank's steps, its processor time in seconds and its largest resident set in bytes."""
    with tempfile.TemporaryDirectory(prefix="rematch-ranks-") as folder:
        path = pathlib.Path(folder) / "trial.json"
        path.write_text(json.dumps(trial))
        process = start_rank(["--trial", str(path)], rank_environment(rank, trial["parallel"]["world_size"], master_port=1))
        log = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        if process.returncode:
            raise AssertionError(f"rank {rank} ended with {process.returncode}:\n{log}")
        steps = [line for line in read_lines(path.parent / f"rank-{rank:05d}.jsonl") if line["t"] == "step"]
    return steps, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class ThousandRanksTest(unittest.TestCase):
    def test_each_stage_of_a_thousand_ranks_is_predicted_in_seconds(self):
        trial = document(1024, expert_parallel=32)
        for stage in range(STAGES):
            steps, processor_s, rss_bytes = predict(trial, stage * 1024 // STAGES)
            self.assertEqual(len(steps), 3)
            self.assertLess(processor_s, LIMIT_S, f"stage {stage}")
            self.assertLess(rss_bytes, LIMIT_BYTES, f"stage {stage}")

    def test_a_rank_costs_no_more_memory_in_a_job_of_more_ranks(self):
        few, many = (predict(document(world_size, expert_parallel=8), 0)[2] for world_size in (128, 8192))
        self.assertLess(many, 1.1 * few)


if __name__ == "__main__":
    unittest.main()
