"""An allocation of two nodes loses the second: the trial in flight does not count, and the study comes to its end on two nodes."""
import json
import unittest

from slurm_case import LocalStudy, SlurmCase, wait_exit

SLOW = '{"rules":[{"arm":"moe_act","sleep_us":1000000}]}'


class LostSecondNode(SlurmCase):
    NUM_NODES = 3

    @classmethod
    def start_local_studies(cls):
        cls.local = LocalStudy.finished(cls)

    def test_the_study_goes_on_with_another_node(self):
        study = self.study(self.local, "--nodes", "2")
        with study.following(fake=SLOW) as controller:
            study.wait_submitted()
            study.wait_done(2)
            nodes = json.loads(study.files("launch.json")[0].read_text())["nodes"]
            self.lab.fail_node(nodes[1]["node"])
            self.assertEqual(wait_exit(controller, study, 120), 0, study.story())
        self.check_result(study, self.local)
        launches = [json.loads((path.parent / "launch.json").read_text()) for path in study.files("done.json")]
        used = {tuple(node["node"] for node in launch["nodes"]) for launch in launches}
        self.assertEqual(len(used), 1, "the whole block ran on the same nodes")
        self.assertNotIn(nodes[1]["node"], *used)


if __name__ == "__main__":
    unittest.main()
