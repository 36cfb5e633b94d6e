"""The real trainer under limits of the modelled allocator that are too small for one stage after another: the failure is placed there."""
import unittest

from workspace import TINY_SWEEP, Workspace

# Most of the model is its vocabulary: parameters of 10 MB, and an optimizer's state that is more than what a forward of 256 tokens adds.
SWEEP = (TINY_SWEEP.replace("padded_vocab_size: 256", "padded_vocab_size: 8192").replace("hidden_size: 64", "hidden_size: 128", 1)
         .replace("seq_length: 128", "seq_length: 256").replace("global_batch_size: 2", "global_batch_size: 1")
         .replace("world_size: 2, expert_model_parallel_size: 2", "world_size: 1").replace("labels: [moe_act, moe]", "labels: [moe_act]")
         .replace("train_iters: 24", "train_iters: 14"))
# The build wants about 23 MB, a forward and backward 48 MB, the optimizer's state as much again.
PLACES = {"20MB": ("built", "build", None), "37MB": ("first_forward", "forward", 0), "50MB": ("optimizer_init", "optimizer_init", 0)}


class MemoryLimitTest(unittest.TestCase):
    def test_each_limit_fails_in_its_stage_on_every_repeat(self):
        for limit, place in PLACES.items():
            with self.subTest(limit=limit):
                workspace = Workspace(self)
                result = workspace.rematch("run", workspace.write_sweep(SWEEP), "--set", f"backend.memory_limit={limit}")
                self.assertEqual(result.returncode, 5, result.stderr)
                failures = workspace.rows("SELECT kind, rank, stage, phase, step, requested_bytes, allocated_bytes, capacity_bytes FROM failure")
                self.assertEqual(len(failures), 3, "the control twice, moe_act once")
                for kind, rank, stage, phase, step, requested, allocated, capacity in failures:
                    self.assertEqual((kind, rank, (stage, phase, step)), ("oom", 0, place))
                    self.assertEqual(capacity, int(limit[:-2]) * 1_000_000)
                    self.assertGreater(requested, 0)
                    self.assertLess(allocated, capacity)


if __name__ == "__main__":
    unittest.main()
