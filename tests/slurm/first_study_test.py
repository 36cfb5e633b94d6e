"""From submission to table with the real trainer: two nodes, two ranks on each, over Gloo, set against the same sweep on one machine."""
import json
import re
import unittest

from slurm_case import BIN, SlurmCase, SlurmStudy, table_of
from workspace import TINY_SWEEP, Workspace

SWEEP = TINY_SWEEP
for as_it_is, here in (("world_size: 2", "world_size: 4"), ("global_batch_size: 2", "global_batch_size: 4"), ("[moe_act, moe]", "[moe]"),
                       ("train_iters: 24", "train_iters: 10"), ("steady_steps: 10", "steady_steps: 5")):
    SWEEP = SWEEP.replace(as_it_is, here)
# Columns of the table that hold a time or follow from one.
OF_TIME = re.compile("time|tflops|pareto|blocks_needed")
STORED = {
    "step": "trial_id, rank, step, loss_bits, grad_norm, skipped, is_nan, end_allocated_bytes, tokens_received",
    "rank": "trial_id, rank, world_size, comm_backend, device, build_id, num_parameters_local, lifetime_peak_allocated_bytes",
    "phase": "trial_id, rank, step, phase, source, peak_allocated_bytes, peak_reserved_bytes",
    "label_count": "trial_id, rank, count_of, label, num",
}


class RealTrainer(SlurmStudy):
    def environment(self, fake="", **more):
        # All nodes have the loopback address alone, which ranks of several hosts do not take for the way to each other unless told.
        return {**super().environment(fake, **more), "REMATCH_TRAINER": str(BIN / "rematch-train"), "GLOO_SOCKET_IFNAME": "lo"}


class FirstStudy(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = Workspace(cls)
        cls.local.sweep = cls.local.write_sweep(SWEEP)
        result = cls.local.rematch("run", cls.local.sweep)
        assert result.returncode == 0, result.stdout + result.stderr

    def test_four_ranks_on_two_nodes_come_to_the_same_bits_as_on_one(self):
        study = RealTrainer(self, self.lab, ("--nodes", "2", "--ntasks-per-node", "2"))
        self.studies.append(study)
        result = study.rematch("run", self.local.sweep, *study.options, limit_s=300)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + study.job_output())
        self.check_places(study)
        self.assertEqual(self.untimed(study), self.untimed(self.local))
        self.assertEqual(self.pareto_of_least_peak(study), self.pareto_of_least_peak(self.local))
        self.assertEqual(self.pareto_of_least_peak(study)[1], "yes")
        for table, columns in STORED.items():
            query = f"SELECT {columns} FROM {table} ORDER BY {columns}"
            with self.subTest(table):
                self.assertGreater(len(study.rows(query)), 4)
                self.assertEqual(study.rows(query), self.local.rows(query))

    def check_places(self, study):
        launches = [json.loads(path.read_text()) for path in study.files("launch.json")]
        self.assertEqual(len(launches), 3)
        for launch in launches:
            self.assertEqual([node["node"] for node in launch["nodes"]], ["n1", "n2"])
            self.assertEqual([exit["node"] for exit in launch["ranks"]], [0, 0, 1, 1])
        self.assertEqual(study.rows("SELECT DISTINCT rank, local_rank, node FROM ranks ORDER BY rank"),
                         [(0, 0, "n1"), (1, 1, "n1"), (2, 0, "n2"), (3, 1, "n2")])

    @staticmethod
    def untimed(study):
        return [{key: value for key, value in row.items() if not OF_TIME.search(key)} for row in table_of(study.report("csv"))]

    @staticmethod
    def pareto_of_least_peak(study):
        """Of the arm that no other can beat, whatever the times; those decide on the others."""
        row = min(table_of(study.report("csv")), key=lambda arm: int(arm["peak_allocated_bytes"]))
        return row["modules"], row["pareto"]


if __name__ == "__main__":
    unittest.main()
