"""Eight ranks of the real trainer, started by hand without any supervisor: when one dies or hangs, the others end by themselves and name it."""
import contextlib
import json
import pathlib
import signal
import tempfile
import time
import unittest

from thread_stop import refusal, stopped_thread
from trainer_runs import free_port, outputs_of, rank_environment, read_lines, start_rank, trial_document

WORLD_SIZE = 8
COMMUNICATION, OUT_OF_MEMORY = 12, 10
# A rank that dies must be noticed long before the first, one that hangs soon after the second; no trial comes to its own deadline.
PATIENT_S, HASTY_S, TRIAL_S = 300, 8, 600
LIMIT_S = 90


def document(collective_timeout_s, **changes):
    trial = trial_document([], world_size=WORLD_SIZE, expert_parallel=4, training={"train_iters": 100000}, **changes)
    return {**trial, "timeout_ms": TRIAL_S * 1000, "collective_timeout_ms": collective_timeout_s * 1000}


class Job:
    """The ranks of one trial, on their way."""

    def __init__(self, case, trial, trials_of=None):
        folder = tempfile.TemporaryDirectory(prefix="rematch-failed-rank-")
        case.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        port = free_port()
        self.processes = []
        case.addCleanup(self.kill)
        for rank in range(WORLD_SIZE):
            path = self.folder / str(rank) / "trial.json"  # a folder of its own: ranks may get trials that differ
            path.parent.mkdir()
            path.write_text(json.dumps((trials_of or {}).get(rank, trial)))
            self.processes.append(start_rank(["--trial", str(path)], rank_environment(rank, WORLD_SIZE, port)))

    def kill(self):
        for process in self.processes:
            process.kill()
            with contextlib.suppress(ValueError):  # its output was read
                process.communicate()

    def records(self, rank):
        return read_lines(self.folder / str(rank) / f"rank-{rank:05d}.jsonl")

    def wait_until_steady(self):
        deadline = time.monotonic() + LIMIT_S
        while not all(any(line["t"] == "step" and line["step"] >= 4 for line in self.records(rank)) for rank in range(WORLD_SIZE)):
            if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                raise AssertionError(f"no steady state: exit codes {[process.poll() for process in self.processes]}")
            time.sleep(0.02)

    def peers_of(self, rank):
        return [peer for peer in range(WORLD_SIZE) if peer != rank]

    def outputs(self, ranks):
        return outputs_of([self.processes[rank] for rank in ranks], LIMIT_S)


class FailedRank(unittest.TestCase):
    def assert_peers_name(self, job, culprit, *words):
        peers = job.peers_of(culprit)
        outputs = job.outputs(peers)
        for peer, output in zip(peers, outputs):
            with self.subTest(peer=peer, output=output):
                self.assertEqual(job.processes[peer].returncode, COMMUNICATION)
                last = job.records(peer)[-1]
                self.assertEqual((last["t"], last["kind"], last["exit_code"], last["failed_rank"]), ("error", "comm", COMMUNICATION, culprit))
                for word in (f"rank {culprit}", *words):
                    self.assertIn(word, last["message"])
                self.assertGreaterEqual(last["step"], 0)

    def steady_job(self, collective_timeout_s):
        job = Job(self, document(collective_timeout_s))
        job.wait_until_steady()
        return job

    def killed(self, rank, *words):
        job = self.steady_job(PATIENT_S)
        job.processes[rank].kill()
        self.assert_peers_name(job, rank, *words)

    def test_the_peers_of_a_killed_rank_end_at_once_and_name_it(self):
        self.killed(3, "process has ended")

    def test_the_peers_of_the_last_rank_when_it_is_killed_end_at_once_and_name_it(self):
        self.killed(7, "process has ended")

    def test_the_peers_of_the_rank_that_serves_the_store_when_it_is_killed_end_at_once_and_name_it(self):
        self.killed(0, "store that rank 0 serves")

    def stopped(self, rank, *words):
        job = self.steady_job(HASTY_S)
        job.processes[rank].send_signal(signal.SIGSTOP)
        self.assert_peers_name(job, rank, *words)
        return job

    def test_the_peers_of_a_rank_that_hangs_end_after_the_deadline_of_a_collective_and_name_it(self):
        self.stopped(5, "no sign of life")

    def test_the_peers_of_the_rank_that_serves_the_store_when_it_hangs_end_too_and_name_it(self):
        self.stopped(0)

    def test_a_rank_that_was_given_up_ends_by_itself_when_it_wakes(self):
        job = self.stopped(5)
        job.processes[5].send_signal(signal.SIGCONT)
        job.outputs([5])
        last = job.records(5)[-1]
        self.assertEqual(last["t"], "error")
        self.assertEqual(last["failed_rank"], 0, "rank 0 and its store are gone by then")

    def test_a_rank_that_lives_and_never_comes_to_the_collective_is_named(self):
        if reason := refusal():
            self.skipTest(f"a rank that hangs with its watch alive was not tried: {reason}")
        job = self.steady_job(HASTY_S)
        with stopped_thread(job.processes[6].pid):  # the watch's thread goes on
            self.assert_peers_name(job, 6, "rank 6 on")

    def test_a_rank_that_fails_by_itself_tells_its_peers_why(self):
        small = document(PATIENT_S, memory_limit_bytes=1 << 20)
        job = Job(self, document(PATIENT_S), trials_of={2: small})
        self.assert_peers_name(job, 2, "memory")
        job.outputs([2])
        self.assertEqual(job.processes[2].returncode, OUT_OF_MEMORY)
        self.assertEqual(job.records(2)[-1]["t"], "oom")

    def test_ranks_that_are_told_to_end_say_that_and_blame_nobody(self):
        job = self.steady_job(PATIENT_S)
        for process in job.processes:
            process.send_signal(signal.SIGTERM)
        job.outputs(range(WORLD_SIZE))
        self.assertEqual([process.returncode for process in job.processes], [15] * WORLD_SIZE)
        self.assertEqual([job.records(rank)[-1]["failed_rank"] for rank in range(WORLD_SIZE)], [None] * WORLD_SIZE)

    def test_a_job_that_ends_well_blames_nobody(self):
        trial = document(PATIENT_S)
        job = Job(self, {**trial, "training": {**trial["training"], "train_iters": 3}})
        outputs = job.outputs(range(WORLD_SIZE))
        self.assertEqual([process.returncode for process in job.processes], [0] * WORLD_SIZE, outputs)
        self.assertEqual([job.records(rank)[-1]["t"] for rank in range(WORLD_SIZE)], ["bye"] * WORLD_SIZE)
