"""Nodes that fail and jobs that are preempted: the block in flight is repeated whole, and nothing counts twice. The studies run side by
side, each on a node of its own, since a requeued job waits for eleven seconds."""
import contextlib
import json
import unittest

from slurm_case import SWEEP, LocalStudy, SlurmCase, wait_exit

TWO_BLOCKS = SWEEP.replace("blocks: 1", "blocks: 2").replace("name: fake", "name: twoblocks")
# The third trial of the second block lasts twelve seconds, so that it is the one in flight.
SLOW = '{"rules":[{"block":1,"slot":2,"sleep_us":2000000}]}'
NUM_DONE_BEFORE = 6

# What happens, to the study on which node: its options, how its runners end, how many submissions it takes.
STUDIES = {
    "its node fails": (("--nodelist", "n1"), [None, "complete"], 1),
    "its node fails and it may not be requeued": (("--nodelist", "n2", "--no-requeue"), [None, "complete"], 2),
    "it is preempted": (("--nodelist", "n3", "--partition", "low"), ["interrupted", "complete"], 1),
}


class LostNode(SlurmCase):
    NUM_NODES = 3

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls, TWO_BLOCKS)

    def disturb(self):
        other = self.occupy("n3", seconds=1)
        for node in ("n1", "n2"):
            self.lab.fail_node(node)
        self.wait_state(other, {"COMPLETED"}, 30)
        for node in ("n1", "n2"):
            self.lab.start_node(node)

    def test_a_half_done_block_is_repeated_whole(self):
        studies = {what: self.study(self.local, *options) for what, (options, _, _) in STUDIES.items()}
        with contextlib.ExitStack() as following:
            controllers = {what: following.enter_context(study.following(fake=SLOW)) for what, study in studies.items()}
            for study in studies.values():
                study.wait_done(NUM_DONE_BEFORE)
            self.disturb()
            codes = {what: wait_exit(controllers[what], study, 150) for what, study in studies.items()}
        for what, study in studies.items():
            with self.subTest(what):
                self.assertEqual(codes[what], 0, study.story())
                self.check_repeated(study, *STUDIES[what][1:])

    def check_repeated(self, study, ends, num_submissions):
        self.check_result(study, self.local)
        self.assertEqual(len(study.submissions()), num_submissions)
        self.assertEqual([runner["end"] for runner in study.runners()], ends)
        superseded = [json.loads(path.read_text())["trial_id"] for path in study.files("superseded.json")]
        self.assertEqual(len(superseded), 2, "of the second block two trials were done")
        of_block = {}
        for path in study.files("done.json"):
            launch = json.loads((path.parent / "launch.json").read_text())
            of_block.setdefault(study.trial_of(path)["block"], set()).add(launch["allocation"]["runner"])
        self.assertEqual([len(runners) for runners in of_block.values()], [1, 1], "a block is one runner's")
        self.assertNotEqual(of_block[0], of_block[1])


if __name__ == "__main__":
    unittest.main()
