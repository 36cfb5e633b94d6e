"""512 ranks of the fake trainer in one trial on this machine, and what the limits of open files have to do with it."""
import json
import os
import pathlib
import time
import unittest

from fake_study import FakeStudy, time_allowance, wait_for

NUM_RANKS = 512
SWEEP = f"""\
schema: rematch/sweep/1
name: many
model: {{preset: moonlight_16b, num_layers: 4}}
training: {{seq_length: 64, micro_batch_size: 1, global_batch_size: {NUM_RANKS}, train_iters: 3, seed: 1234, bf16: true}}
parallel: {{world_size: {NUM_RANKS}, expert_model_parallel_size: 64}}
backend: {{device: cpu, attention: fused}}
recompute:
  control: {{recompute_granularity: selective, recompute_modules: []}}
  labels: [moe_act]
measure: {{blocks: 1, steady_steps: 1, warmup: 1}}
launch: {{kind: local, timeout: {time_allowance(60)}s}}
"""
# A pidfd a rank and a few of its own; no pipe that stays with a rank.
MOST_OWN_DESCRIPTORS = 32


def soft_limit_of(files):
    return ("bash", "-c", f'ulimit -Sn {files}; exec "$@"', "bash")


def hard_limit_of(files):
    return ("bash", "-c", f'ulimit -n {files}; exec "$@"', "bash")


class ManyRanks(unittest.TestCase):
    def test_all_are_started_recorded_and_stored(self):
        study = FakeStudy(self, SWEEP)
        begin = time.monotonic()
        ended = study.run(prefix=soft_limit_of(128), limit_s=170, fake='{"sleep_us": 1000}')
        print(f"three trials of {NUM_RANKS} ranks: {time.monotonic() - begin:.1f} s")
        self.assertEqual(ended.returncode, 0, ended.stderr[-3000:])
        self.assertEqual(study.rows("SELECT count(*), min(record_complete) FROM rank"), [(3 * NUM_RANKS, 1)])
        for path in study.files("launch.json"):
            launch = json.loads(path.read_text())
            self.assertEqual({rank["exit_code"] for rank in launch["ranks"]}, {0})
            started_s = (max(rank["start_mono_ns"] for rank in launch["ranks"]) - min(rank["start_mono_ns"] for rank in launch["ranks"])) / 1e9
            print(f"started within {started_s:.2f} s")

    def test_too_low_a_limit_of_open_files_is_refused_with_the_number_before_anything_starts(self):
        study = FakeStudy(self, SWEEP)
        refused = study.run(prefix=hard_limit_of(300))
        self.assertEqual(refused.returncode, 8, refused.stderr)
        self.assertIn("512 ranks on one machine want 576 open files in the process that watches them; the hard limit is 300", refused.stderr)
        self.assertIn("ulimit -Hn 576", refused.stderr)
        self.assertEqual(study.files("trial.json"), [])

    def test_a_supervisor_keeps_one_descriptor_a_rank_and_no_pipe(self):
        num_ranks = 64
        study = FakeStudy(self, SWEEP.replace(f"size: {NUM_RANKS}", f"size: {num_ranks}"))
        with study.started(fake='{"rules":[{"do":"hang","stage":"steady"}]}') as controller:
            wait_for(lambda: len(study.files("rank-*.jsonl")) == num_ranks, 60, f"{num_ranks} ranks")
            supervisor, = (pid for pid, words in study.processes().items() if " supervise " in words)
            kinds = [os.readlink(path) for path in pathlib.Path(f"/proc/{supervisor}/fd").iterdir()]
            self.assertLess(len(kinds), num_ranks + MOST_OWN_DESCRIPTORS, kinds)
            self.assertLess(sum(kind.startswith("pipe:") for kind in kinds), 6, kinds)
            rank = next(pid for pid in study.marked_processes() if pid not in (supervisor, controller.pid))
            own = [os.readlink(path) for path in pathlib.Path(f"/proc/{rank}/fd").iterdir()]
            self.assertLess(len(own), 8, f"a rank inherited more than its streams: {own}")
            controller.terminate()
            controller.wait(timeout=time_allowance(30))
        self.assertEqual(study.marked_processes(), [])


if __name__ == "__main__":
    unittest.main()
