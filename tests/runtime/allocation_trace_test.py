"""A recorded allocation trace, replayed through the allocator model, is the run: its peaks to the byte, its retries, its out of memory; and it tells
beforehand what the same trial comes to under a limit."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from trainer_runs import LIMIT_S, TRAINER, Records, free_port, outputs_of, rank_environment, run_ranks, start_rank, trial_document

MIB = 1 << 20
TRAINING = {"seq_length": 1024, "train_iters": 4, "global_batch_size": 2}  # two micro-batches: blocks of one are free for the next


def replay_process(trace, *options):
    return subprocess.run([str(TRAINER), "--replay-trace", str(trace), *options], capture_output=True, text=True, timeout=LIMIT_S)


class AllocationTraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rematch-trace-")
        self.addCleanup(folder.cleanup)
        self.folder, self.num_runs = pathlib.Path(folder.name), 0

    def record(self, device, limit_bytes=None, **more):
        """The rank's records, its exit code, and its trace."""
        folder = self.folder / str(self.num_runs)
        self.num_runs += 1
        folder.mkdir()
        document = trial_document(["core_attn"], device=device, world_size=1, expert_parallel=1, training=TRAINING, attention="unfused",
                                  fields={"moe_router_force_load_balancing": True, "padded_vocab_size": 8192}, memory_limit_bytes=limit_bytes,
                                  **more)
        (folder / "trial.json").write_text(json.dumps(document))
        exit_codes, logs = run_ranks(["--trial", str(folder / "trial.json"), "--allocation-trace", str(folder / "trace")], 1)
        self.assertIn(exit_codes[0], (0, 10), logs[0])
        return Records(folder, 1).ranks[0], exit_codes[0], folder / "trace"

    def replay(self, trace, *options):
        result = replay_process(trace, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def under(self, trace, limit_bytes):
        return self.replay(trace, "--memory-limit", str(limit_bytes))

    def check_whole_run(self, rank, replay):
        bye, last = rank["bye"][0], rank["step"][-1]
        self.assertEqual(len(rank["step"]), TRAINING["train_iters"])
        self.assertIsNone(replay["out_of_memory"])
        self.assertEqual(replay["peak_allocated_bytes"], bye["lifetime_peak_allocated_bytes"])
        self.assertEqual(replay["peak_reserved_bytes"], bye["lifetime_peak_reserved_bytes"])
        self.assertEqual(replay["num_alloc_retries"], last["num_alloc_retries"])
        self.assertLessEqual(replay["peak_requested_bytes"], replay["peak_allocated_bytes"])

    def smallest_limit(self, trace, most):
        """By bisection to 2 MiB, the unit in which a large segment is taken."""
        least = 0
        while most - least > 2 * MIB:
            middle = (least + most) // 2
            if self.under(trace, middle)["out_of_memory"]:
                least = middle
            else:
                most = middle
        return most, least

    def test_the_replay_has_the_peaks_of_the_run_and_says_what_the_trial_comes_to_under_a_limit(self):
        for device in ("cpu", "meta"):
            with self.subTest(device=device):
                free_run, _, trace = self.record(device)
                replay = self.replay(trace)
                self.check_whole_run(free_run, replay)
                fits, too_small = self.smallest_limit(trace, replay["peak_reserved_bytes"])
                self.assertGreater(self.under(trace, fits)["num_alloc_retries"], 0, "the limit is not tight enough for a retry")
                tight_run, exit_code, tight_trace = self.record(device, fits)
                self.assertEqual(exit_code, 0)
                self.check_whole_run(tight_run, self.under(tight_trace, fits))
                self.check_whole_run(tight_run, self.under(trace, fits))
                self.check_out_of_memory(device, too_small, trace)

    def check_out_of_memory(self, device, limit_bytes, trace_of_free_run):
        failed_run, exit_code, trace = self.record(device, limit_bytes)
        self.assertEqual(exit_code, 10)
        oom = failed_run["oom"][0]
        for replay in (self.under(trace, limit_bytes), self.under(trace_of_free_run, limit_bytes)):
            self.assertEqual(replay["out_of_memory"], {key: oom[key] for key in replay["out_of_memory"]})
            self.assertEqual(replay["num_alloc_retries"], oom["num_alloc_retries"])

    def test_expandable_segments_reserve_less_for_the_same_blocks(self):
        _, _, trace = self.record("meta")
        fixed, expandable = self.replay(trace), self.replay(trace, "--expandable-segments")
        self.assertEqual(expandable["peak_requested_bytes"], fixed["peak_requested_bytes"])
        self.assertLessEqual(expandable["peak_allocated_bytes"], fixed["peak_allocated_bytes"])
        self.assertLess(expandable["peak_reserved_bytes"], fixed["peak_reserved_bytes"])
        self.assertGreater(fixed["fragmentation"]["reserved_less_allocated_bytes"], 0)

    def test_a_trial_with_expandable_segments_is_the_replay_with_them(self):
        for device in ("cpu", "meta"):
            with self.subTest(device=device):
                fixed_run, _, fixed_trace = self.record(device)
                run, exit_code, trace = self.record(device, expandable_segments=True)
                self.assertEqual(exit_code, 0)
                self.check_whole_run(run, self.replay(trace, "--expandable-segments"))
                self.check_whole_run(run, self.replay(fixed_trace, "--expandable-segments"))
                self.assertEqual([step["loss_bits"] for step in run["step"]], [step["loss_bits"] for step in fixed_run["step"]])

    def test_a_trace_is_not_written_over_a_file(self):
        _, _, trace = self.record("meta")
        before, record = trace.read_bytes(), trace.parent / "rank-00000.jsonl"
        record.unlink()
        exit_codes, logs = run_ranks(["--trial", str(trace.parent / "trial.json"), "--allocation-trace", str(trace)], 1)
        self.assertEqual(exit_codes, [2])
        self.assertIn("--allocation-trace: wanted a file", logs[0])
        self.assertIn(str(trace), logs[0])
        self.assertEqual(trace.read_bytes(), before)
        self.assertFalse(record.exists())

    def test_a_trace_that_lacks_its_end_is_refused(self):
        _, _, trace = self.record("meta")
        whole = trace.read_text()
        self.assertTrue(whole.endswith("\nend\n"))
        trace.write_text(whole.removesuffix("end\n"))
        self.assertIn("wanted 'end' as the last line", replay_process(trace).stderr)

    def test_a_rank_that_cannot_write_the_last_of_its_trace_fails(self):
        _, _, trace = self.record("meta")
        again = trace.with_name("again")
        (trace.parent / "rank-00000.jsonl").unlink()
        few_bytes = ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh", "prlimit", f"--fsize={trace.stat().st_size - 2}"]
        rank = start_rank(["--trial", str(trace.parent / "trial.json"), "--allocation-trace", str(again)], rank_environment(0, 1, free_port()), few_bytes)
        log, = outputs_of([rank])
        self.assertEqual(rank.returncode, 70, log)
        records = Records(trace.parent, 1).ranks[0]
        self.assertEqual(len(records["step"]), TRAINING["train_iters"])
        self.assertEqual(records["bye"], [])
        self.assertIn(f"writing the allocation trace {again}", records["error"][0]["message"])

    def test_a_bad_trace_is_refused_with_file_and_line(self):
        trace = self.folder / "bad"
        trace.write_text("rematch/allocation-trace/1\nallocate 1 512\nfree 2\n")
        result = replay_process(trace)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(f"{trace}:3: wanted a block that is allocated and not yet freed, found 'free 2'", result.stderr)
        self.assertEqual(replay_process(self.folder / "none").returncode, 2)

    def test_options_that_would_be_ignored_are_refused(self):
        for options in (["--expandable-segments"], ["--trial", "x", "--memory-limit", "1"], ["--replay-trace", "x", "--trial", "x"],
                        ["--replay-trace", "x", "--memory-limit", "1e9"], ["--allocation-trace", "x"]):
            with self.subTest(options=options):
                result = subprocess.run([str(TRAINER), *options], capture_output=True, text=True, timeout=LIMIT_S)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn("wanted", result.stderr)


if __name__ == "__main__":
    unittest.main()
