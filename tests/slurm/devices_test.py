"""Devices of a job: each node's mask is recorded as Slurm set it, a job step asks for the job's devices, too few for the ranks are refused
by name. The nodes' devices are none, and the fake trainer uses none."""
import json
import unittest

from slurm_case import ENDED, SWEEP, LocalStudy, SlurmCase

CUDA = SWEEP.replace("device: cpu", "device: cuda").replace("name: fake", "name: cuda")
FOUR_RANKS = CUDA.replace("world_size: 2", "world_size: 4")
SHARED = ("--exclusive=false",)
ALL = "0,1,2,3,4,5,6,7"


class Devices(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls, CUDA)
        cls.four = LocalStudy(cls, FOUR_RANKS)

    def launches(self, study):
        return [json.loads(path.read_text()) for path in study.files("launch.json")]

    def check_masks(self, study, nodes, ranks):
        """Of every attempt: node -> mask; of the table: rank, its place on the node, node, mask."""
        self.check_finished(study.run(), study, self.local)
        for launch in self.launches(study):
            self.assertEqual({node["node"]: node["visible_devices"] for node in launch["nodes"]}, nodes)
        rows = study.rows("SELECT DISTINCT rank, local_rank, node, visible_devices FROM ranks ORDER BY rank")
        self.assertEqual(rows, ranks)

    def test_two_ranks_of_a_node_see_the_two_devices_of_their_job(self):
        study = self.study(self.local, "--nodelist", "n1", "--gpus-per-node", "2", *SHARED)
        self.check_masks(study, {"n1": "0,1"}, [(0, 0, "n1", "0,1"), (1, 1, "n1", "0,1")])

    def test_a_step_over_two_nodes_sees_the_devices_of_its_job_on_each(self):
        study = self.study(self.local, "--nodes", "2", "--gpus-per-node", "3", *SHARED)
        self.check_masks(study, {"n1": "0,1,2", "n2": "0,1,2"}, [(0, 0, "n1", "0,1,2"), (1, 0, "n2", "0,1,2")])

    def test_a_step_has_all_devices_of_nodes_that_its_job_has_for_itself(self):
        # Slurm gives them to the job, and to its step none that it does not ask for.
        study = self.study(self.local, "--nodes", "2")
        self.check_masks(study, {"n1": ALL, "n2": ALL}, [(0, 0, "n1", ALL), (1, 0, "n2", ALL)])

    def check_refused(self, study, nodes):
        """Every trial, with the node and both numbers."""
        self.assertEqual(study.run("--detach").returncode, 0)
        study.wait_runner("trials_left")
        self.wait_state(study.wait_submitted()["job_id"], ENDED, 20)
        launches = self.launches(study)
        self.assertGreaterEqual(len(launches), 1, study.story())
        for launch in launches:
            self.assertEqual(launch["end"], "launch_failed")
            self.assertRegex(launch["message"], f'2 ranks on node {nodes}, found 1 in CUDA_VISIBLE_DEVICES="0"')

    def test_fewer_devices_than_ranks_are_refused_on_one_node(self):
        self.check_refused(self.study(self.local, "--nodelist", "n2", "--gres", "gpu:1", *SHARED), "n2")

    def test_fewer_devices_than_ranks_are_refused_on_two_nodes(self):
        self.check_refused(self.study(self.four, "--nodes", "2", "--gres", "gpu:1", *SHARED), "n[12]")


if __name__ == "__main__":
    unittest.main()
