"""Two hosts, played by two network namespaces of this machine that a cable joins: two ranks each, started as torchrun would start them."""
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from trainer_runs import Run, TRAINER, outputs_of, rank_environment, read_lines, start_rank, trial_document

RANKS_PER_HOST = 2
WORLD_SIZE = 2 * RANKS_PER_HOST
PORT = 29533
LIMIT_S = 60


class Hosts:
    """Namespaces a and b with one address each. The host's own name resolves to a loopback address in both, as on many a Debian."""

    def __init__(self):
        self.names = [f"rm{os.getpid()}a", f"rm{os.getpid()}b"]
        self.addresses = ["10.213.77.1", "10.213.77.2"]

    def __enter__(self):
        self.cleanup = contextlib.ExitStack()
        for name in self.names:
            self.ip("netns", "add", name)
            self.cleanup.callback(self.ip, "netns", "del", name)
        self.ip("link", "add", f"{self.names[0]}0", "netns", self.names[0], "type", "veth", "peer", "name", f"{self.names[1]}0", "netns", self.names[1])
        for name, address in zip(self.names, self.addresses):
            self.ip("-n", name, "address", "add", f"{address}/24", "dev", f"{name}0")
            self.ip("-n", name, "link", "set", f"{name}0", "up")
            self.ip("-n", name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *error):
        self.cleanup.close()

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=LIMIT_S)

    def cut_the_cable(self):
        self.ip("-n", self.names[1], "link", "set", f"{self.names[1]}0", "down")

    def start(self, rank, arguments, **more):
        host, local_rank = divmod(rank, RANKS_PER_HOST)
        environment = rank_environment(rank, WORLD_SIZE, PORT, LOCAL_RANK=str(local_rank), LOCAL_WORLD_SIZE=str(RANKS_PER_HOST),
                                       GROUP_RANK=str(host), MASTER_ADDR=self.addresses[0], **more)
        return start_rank(arguments, environment, prefix=["ip", "netns", "exec", self.names[host]])


def why_not():
    try:
        with Hosts():
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces here: {error} {getattr(error, 'stderr', '')}"


REASON = why_not()


@unittest.skipIf(REASON, REASON)
class TwoHosts(unittest.TestCase):
    def setUp(self):
        self.hosts = self.enterContext(Hosts())
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="rematch-two-hosts-")))

    def write(self, document):
        path = self.folder / "trial.json"
        path.write_text(json.dumps(document))
        return ["--trial", str(path)]

    def records(self, rank):
        return read_lines(self.folder / f"rank-{rank:05d}.jsonl")

    def finished(self, processes):
        outputs = outputs_of(processes, LIMIT_S)
        return [process.returncode for process in processes], outputs

    def run_all(self, document, **more):
        arguments = self.write(document)
        return self.finished([self.hosts.start(rank, arguments, **more) for rank in range(WORLD_SIZE)])

    def losses(self):
        return [[line["loss_bits"] for line in self.records(rank) if line["t"] == "step"] for rank in range(WORLD_SIZE)]

    def test_ranks_on_two_hosts_train_as_on_one_to_the_bit(self):
        document = trial_document([], world_size=WORLD_SIZE, expert_parallel=WORLD_SIZE)
        codes, outputs = self.run_all(document)
        self.assertEqual(codes, [0] * WORLD_SIZE, outputs)
        self.assertEqual(self.losses(), Run(document).require_success().loss_bits())
        hellos = [self.records(rank)[0] for rank in range(WORLD_SIZE)]
        self.assertEqual([hello["local_rank"] for hello in hellos], [0, 1, 0, 1])

    def test_a_network_device_that_is_named_goes_before_the_route(self):
        codes, outputs = self.run_all(trial_document([], world_size=WORLD_SIZE), GLOO_SOCKET_IFNAME="no-such-device")
        self.assertEqual(codes, [12] * WORLD_SIZE)
        self.assertIn("no-such-device", "".join(outputs))

    def test_ranks_that_do_not_come_are_named_at_the_deadline(self):
        document = {**trial_document([], world_size=WORLD_SIZE), "timeout_ms": 10000, "collective_timeout_ms": 5000}
        arguments = self.write(document)
        codes, outputs = self.finished([self.hosts.start(rank, arguments) for rank in (0, 1, 3)])
        self.assertEqual(codes, [12, 12, 12], outputs)
        self.assertIn("have not come: 2;", outputs[0])
        self.assertEqual(self.records(0)[-1]["stage"], "joined")

    def test_an_address_that_only_one_host_knows_is_refused(self):
        document = trial_document([], world_size=WORLD_SIZE)
        environment = rank_environment(0, WORLD_SIZE, PORT, LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1")
        process = start_rank(self.write({**document, "timeout_ms": 10000, "collective_timeout_ms": 5000}), environment, prefix=["ip", "netns", "exec", self.hosts.names[0]])
        codes, outputs = self.finished([process])
        self.assertEqual(codes, [12])
        self.assertIn("no other host can reach", outputs[0])

    def test_a_host_that_is_cut_off_is_noticed_on_both_sides(self):
        document = trial_document([], world_size=WORLD_SIZE, expert_parallel=WORLD_SIZE, training={"train_iters": 100000})
        arguments = self.write({**document, "timeout_ms": 600_000, "collective_timeout_ms": 4000})
        processes = [self.hosts.start(rank, arguments) for rank in range(WORLD_SIZE)]
        self.addCleanup(lambda: [process.kill() for process in processes])
        while not all(any(line["t"] == "step" for line in self.records(rank)) for rank in range(WORLD_SIZE)):
            self.assertEqual([process.poll() for process in processes], [None] * WORLD_SIZE)
            time.sleep(0.02)
        self.hosts.cut_the_cable()
        codes, outputs = self.finished(processes)
        self.assertEqual(codes, [12] * WORLD_SIZE, outputs)
        named = [self.records(rank)[-1]["failed_rank"] for rank in range(WORLD_SIZE)]
        self.assertEqual(named, [2, 2, 0, 0], "each side names the first rank of the other")


class WrongEnvironment(unittest.TestCase):
    def refusal(self, **variables):
        result = subprocess.run([str(TRAINER), "--trial", "none.json"], env={**os.environ, **variables}, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertNotEqual(result.returncode, 0)
        return result.stderr

    def test_a_local_rank_beyond_its_host_is_refused(self):
        message = self.refusal(RANK="3", WORLD_SIZE="4", LOCAL_WORLD_SIZE="2", LOCAL_RANK="3")
        self.assertIn("LOCAL_RANK: wanted 0 to 1", message)

    def test_a_rank_on_one_of_several_hosts_must_say_its_place_there(self):
        message = self.refusal(RANK="3", WORLD_SIZE="4", LOCAL_WORLD_SIZE="2")
        self.assertIn("LOCAL_RANK: wanted 0 to 1", message)

    def test_more_ranks_on_a_host_than_in_the_job_are_refused(self):
        self.assertIn("LOCAL_WORLD_SIZE: wanted 1 to 2", self.refusal(RANK="0", WORLD_SIZE="2", LOCAL_WORLD_SIZE="4", LOCAL_RANK="0"))
