"""Five hundred elements of one study: submitted by one sbatch in at most two seconds, followed by one squeue a cycle and at most four
client calls a minute while nothing changes, each call counted by programs before the real ones on PATH."""
import time
import unittest

from slurm_case import SWEEP, LocalStudy, SlurmCase, time_allowance, wait_for
from watched_clients import WatchedClients

NUM_BLOCKS = 500
SWEEP_500 = SWEEP.replace("blocks: 1", f"blocks: {NUM_BLOCKS}").replace("[moe_act, moe]", "[moe]").replace("name: fake", "name: many")
MOST_SUBMISSION_S = 2
MOST_CALLS_A_MINUTE = 4


class ManyElements(SlurmCase):
    NUM_NODES = 1

    def test_five_hundred_elements_are_submitted_at_once_and_followed_quietly(self):
        study = self.study(LocalStudy(self, SWEEP_500), "--shape", "array", "--slurm", "hold")
        clients = WatchedClients(study.folder, self.lab.environment()["PATH"])
        start = time.monotonic()
        with study.following(PATH=clients.path) as controller:
            submission = study.wait_submitted()
            since_start_s = time.monotonic() - start
            self.assertEqual(len(submission["tasks"]), NUM_BLOCKS)
            self.assertEqual(len(self.jobs(submission["name"])), NUM_BLOCKS)
            took_s = (submission["submit_unix_ns"] - submission["intent_unix_ns"]) / 1e9
            print(f"{NUM_BLOCKS} elements submitted in {took_s:.3f} s, {since_start_s:.3f} s after the start; limit {MOST_SUBMISSION_S} s")
            self.assertLessEqual(took_s, time_allowance(MOST_SUBMISSION_S))
            begin = time.time()
            wait_for(lambda: time.time() > begin + 60, 90, "a minute")
            minute = [name for when, name in clients.calls() if begin <= when < begin + 60]
            print(f"in a minute: {minute}")
            self.assertIsNone(controller.poll(), study.log())
            self.assertGreaterEqual(len(minute), 1)
            self.assertEqual(set(minute), {"squeue"})
            self.assertLessEqual(len(minute), MOST_CALLS_A_MINUTE)
        self.assertEqual([name for _, name in clients.calls()].count("sbatch"), 1)
        cancelled = study.rematch("cancel", study.study_id())
        self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
        self.assertEqual({row["state"] for row in self.jobs(submission["name"])}, {"CANCELLED"})


if __name__ == "__main__":
    unittest.main()
