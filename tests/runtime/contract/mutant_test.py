"""The contract on a mutant whose replays do not restore the random state: with dropout it must fail, without it must hold."""
import os
import pathlib
import subprocess
import unittest

MUTANT = pathlib.Path(os.environ["REMATCH_BIN_DIR"]) / "test_recompute_contract_mutant"
BITS = "*EveryLabelEqualsTheControlToTheBit*"


def failures(name):
    run = subprocess.run([str(MUTANT), f"--gtest_filter={BITS}{name}"], capture_output=True, text=True, timeout=100)
    ran = {line.split()[-1] for line in run.stdout.splitlines() if line.startswith("[ RUN ")}
    failed = {line.split()[3].rstrip(",") for line in run.stdout.splitlines() if line.startswith("[  FAILED  ] Families")}
    return ran, failed


class MutantTest(unittest.TestCase):
    def test_every_family_fails_with_dropout(self):
        ran, failed = failures("_tiny_dropout_fused")
        self.assertGreaterEqual(len(ran), 4)
        self.assertEqual(failed, {name for name in ran})

    def test_no_family_fails_without_dropout(self):
        ran, failed = failures("_tiny_plain_fused")
        self.assertGreaterEqual(len(ran), 4)
        self.assertEqual(failed, set())


if __name__ == "__main__":
    unittest.main()
