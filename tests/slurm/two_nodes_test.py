"""Two nodes, a rank on each: a rank that ends badly on the second is named with its node, the others are ended at once."""
import json
import unittest

from slurm_case import LocalStudy, SlurmCase

# Rank 0 waits for ever, rank 1 ends by itself: only the launcher ends rank 0.
BAD_ENDS = {
    "exit": ({"do": "exit", "code": 3}, {"exit_code": 3, "signal": None}),
    "signal": ({"do": "signal", "signal": 11}, {"exit_code": None, "signal": 11}),
}


def fake(misdeed):
    at = {"arm": "moe", "stage": "steady"}
    return json.dumps({"rules": [{**at, "rank": 0, "do": "hang"}, {**at, "rank": 1, **misdeed}]})


class TwoNodes(SlurmCase):
    NUM_NODES = 2

    @classmethod
    def start_local_studies(cls):
        cls.local = {}
        for name, (misdeed, _) in BAD_ENDS.items():
            cls.local[name] = LocalStudy(cls)
            cls.local[name].result = cls.local[name].run(fake=fake(misdeed))
        cls.sound = LocalStudy.finished(cls)

    def test_a_sound_study_comes_to_the_same_and_says_where_each_rank_ran(self):
        study = self.study(self.sound, "--nodes", "2")
        self.check_finished(study.run(), study, self.sound)
        for path in study.files("launch.json"):
            launch = json.loads(path.read_text())
            self.assertEqual([node["node"] for node in launch["nodes"]], ["n1", "n2"])
            self.assertEqual([exit["node"] for exit in launch["ranks"]], [0, 1])
            self.assertEqual(str(launch["allocation"]["job_id"]), str(study.submissions()[0]["job_id"]))

    def check_bad_end(self, name):
        misdeed, end = BAD_ENDS[name]
        local = self.local[name]
        study = self.study(local, "--nodes", "2")
        result = study.run(fake=fake(misdeed))
        self.assertEqual(result.returncode, local.result.returncode, result.stdout + result.stderr)
        self.assertNotEqual(result.returncode, 0)
        self.check_result(study, local)
        launches = [json.loads(path.read_text()) for path in study.files("launch.json")]
        launch, = (launch for launch in launches if launch["end"] == "rank_failed")
        self.assertEqual(launch["cause_rank"], 1)
        cause, = (exit for exit in launch["ranks"] if exit["rank"] == 1)
        self.assertEqual({key: cause[key] for key in end}, end)
        self.assertEqual(launch["nodes"][cause["node"]]["node"], "n2")
        other, = (exit for exit in launch["ranks"] if exit["rank"] == 0)
        self.assertTrue(other["ended_by_supervisor"])
        self.assertLess(launch["end_unix_ns"] - launch["start_unix_ns"], 15e9, "the trial's own limit is 20 s")

    def test_an_exit_code(self):
        self.check_bad_end("exit")

    def test_a_signal(self):
        self.check_bad_end("signal")


if __name__ == "__main__":
    unittest.main()
