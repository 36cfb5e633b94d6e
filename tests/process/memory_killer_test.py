"""A rank that the kernel ends for want of memory: told apart from other kills by the counter of its control group."""
import os
import pathlib
import signal
import unittest

from fake_study import TIME_SCALE, FakeStudy, wait_for

MOUNT = pathlib.Path("/sys/fs/cgroup")
# A sanitised controller holds some hundred megabytes itself, and the kernel ends the largest process.
LIMIT_BYTES = (256 if TIME_SCALE == 1 else 1024) << 20
HOG = '{"rules":[{"arm":"moe","rank":1,"do":"hog","megabytes":3000,"stage":"steady"}]}'


def new_group():
    """A control group with a limit of memory below this process's own, or why there can be none."""
    own = dict((line.split(":")[1], line.strip().split(":", 2)[2]) for line in open("/proc/self/cgroup"))
    v1 = "memory" in own
    parents = [MOUNT / ("memory" if v1 else "") / own["memory" if v1 else ""].lstrip("/"), MOUNT / ("memory" if v1 else "")]
    why = "no control group of memory is mounted"
    for parent in parents:
        group = parent / f"rematch-test-{os.getpid()}"
        try:
            group.mkdir()
            (group / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text(str(LIMIT_BYTES))
            return group, ""
        except OSError as error:
            why = f"a control group with a limit cannot be made here: {error}"
            if group.is_dir():
                group.rmdir()
    return None, why


class MemoryKiller(unittest.TestCase):
    def setUp(self):
        self.group, why = new_group()
        if self.group is None:
            self.skipTest(why)
        self.addCleanup(self.remove_group)

    def remove_group(self):
        def removed():
            try:
                self.group.rmdir()
                return True
            except OSError:
                return False
        wait_for(removed, 10, "the end of the control group")

    def test_its_attempt_is_host_oom_at_that_rank_and_the_sweep_goes_on(self):
        study = FakeStudy(self)
        enter = ("bash", "-c", f'echo $$ > {self.group}/cgroup.procs; exec "$@"', "bash")
        ended = study.run(prefix=enter, fake=HOG)
        self.assertEqual(ended.returncode, 4, ended.stderr)
        (kind, rank, stage, message), = study.rows("SELECT kind, rank, stage, message FROM failure")
        self.assertEqual((kind, rank, stage), ("host_oom", 1, "steady"), message)
        self.assertIn("oom_kill of the control group rose to", message)
        self.assertEqual(len(study.final_attempts()), 4)
        self.assertEqual(study.rows("SELECT signal FROM rank WHERE signal IS NOT NULL"), [(int(signal.SIGKILL),)])

    def test_a_kill_by_somebody_else_is_not_called_so(self):
        study = FakeStudy(self)
        ended = study.run(fake='{"rules":[{"arm":"moe","rank":1,"do":"signal","signal":9,"stage":"steady"}]}')
        self.assertEqual(ended.returncode, 4, ended.stderr)
        self.assertEqual(study.rows("SELECT kind, rank FROM failure"), [("crashed", 1)])


if __name__ == "__main__":
    unittest.main()
