"""kill -9 of the controller in the middle of a sweep: nothing survives it, only the trial in flight is redone, the final table is the same."""
import collections
import csv
import io
import unittest

from workspace import TINY_SWEEP, Workspace, records, wait_for

# Columns that hold a time or what follows from one.
TIMED = ("time", "tflops", "_ns", "second", "ms", "pareto", "blocks_needed")


def untimed(report):
    return [{key: value for key, value in row.items() if not any(word in key.lower() for word in TIMED)}
            for row in csv.DictReader(io.StringIO(report))]


class KillController(unittest.TestCase):
    def in_flight(self, workspace):
        """The attempt that is past its third step while at least two trials are done."""
        done = {path.parent for path in workspace.files("done.json")}
        for path in workspace.files("rank-00000.jsonl"):
            if path.parent not in done and len(done) >= 2 and sum(record["t"] == "step" for record in records(path)) >= 3:
                return path.parent
        return None

    def test_only_the_trial_in_flight_is_redone_and_the_table_is_that_of_an_undisturbed_run(self):
        undisturbed, killed = Workspace(self), Workspace(self)
        sweep = undisturbed.write_sweep(TINY_SWEEP)
        self.assertEqual(undisturbed.rematch("run", sweep).returncode, 0)

        with killed.running("run", sweep) as controller:
            attempt = wait_for(lambda: self.in_flight(killed), 120, "a trial in flight after two that are done")
            controller.kill()
            controller.wait(timeout=10)
            wait_for(lambda: not killed.processes(), 15, "the end of every process of the trial")
        done = killed.files("done.json")
        again = killed.rematch("run", sweep)
        self.assertEqual(again.returncode, 0, again.stderr)

        attempts = collections.Counter(path.parent.parent.name for path in killed.files("trial.json"))
        self.assertEqual({trial for trial, count in attempts.items() if count > 1}, {attempt.parent.name})
        self.assertEqual(len(attempts), len(undisturbed.files("done.json")))
        self.assertTrue(set(done) <= set(killed.files("done.json")), "what was done stays done")
        self.assertEqual(untimed(killed.report("csv")), untimed(undisturbed.report("csv")))
        self.assertEqual(killed.processes(), {})
