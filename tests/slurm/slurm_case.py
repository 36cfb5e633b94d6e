"""Studies under a real Slurm: a lab for each test class, studies that run there and are set against the same study run locally."""
import contextlib
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))
from fake_study import BIN, OF_THIS_RUN, SWEEP, FakeStudy, time_allowance, wait_for  # noqa: E402,F401
from slurm_lab import SlurmLab  # noqa: E402
from workspace import records  # noqa: E402

# Columns that say where a rank ran.
OF_THIS_PLACE = {"host", "node", "local_rank", "visible_devices", "cpu_affinity", "environment"}
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}


def read_documents(paths):
    """Those that can be read now: each is replaced by rename, and may be there for the first time."""
    return [json.loads(path.read_text()) for path in sorted(paths)]


class SlurmCase(unittest.TestCase):
    """Every test leaves the queue empty and no process of a job or of an attempt behind."""

    NUM_NODES = 4
    ACCOUNTING = False
    CONF = {}  # keys of slurm.conf
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.why_not = SlurmLab.why_not(cls.ACCOUNTING)
        if cls.why_not is None:
            folder = tempfile.TemporaryDirectory(prefix="rematch-slurm-")
            cls.addClassCleanup(folder.cleanup)
            cls.lab = SlurmLab(pathlib.Path(folder.name) / "lab")
            cls.addClassCleanup(cls.lab.end)
            cls.lab.start(nodes=cls.NUM_NODES, dbd=cls.ACCOUNTING, extra=cls.CONF)
            cls.start_local_studies()

    @classmethod
    def start_local_studies(cls):
        """What the tests of the class compare with."""

    def setUp(self):
        if self.why_not:
            self.skipTest(f"no Slurm here: {self.why_not}")
        self.studies = []
        self.addCleanup(self.clear_queue)

    def tearDown(self):
        active = self.active_jobs()
        self.assertEqual(active, [], "left in the queue")
        wait_for(lambda: not self.lab.job_leftovers(), 15, f"the end of what jobs left: {self.lab.job_leftovers()}")
        for study in self.studies:
            self.assertEqual(study.marked_processes(), [])

    def clear_queue(self):
        self.lab.call("scancel", "--quiet", "--user", str(os.getuid()))
        wait_for(lambda: not self.active_jobs() and not self.lab.job_leftovers(), 30, "an empty queue")

    # --- what Slurm says

    def jobs(self, name=""):
        """Of each job, or element of an array, that the controller still knows: id, name, state, reason, restarts, nodes."""
        form = "JobID:|,ArrayJobID:|,ArrayTaskID:|,Name:|,State:|,Reason:|,RestartCnt:|,NodeList:|"
        text = self.lab.call("squeue", "-h", "-t", "all", "-r", "-O", form)
        keys = ("id", "array", "element", "name", "state", "reason", "restarts", "nodes")
        rows = [dict(zip(keys, line.split("|"))) for line in (text or "").splitlines()]
        return [row for row in rows if not name or row["name"] == name]

    def active_jobs(self):
        return [row for row in self.jobs() if row["state"] not in ENDED]

    def occupy(self, node, seconds=600):
        """Somebody else's job has the node to itself. Returns its id."""
        job = self.lab.call("sbatch", "--parsable", "--exclusive", f"--nodelist={node}", "--output=/dev/null", f"--wrap=sleep {seconds}")
        self.wait_state(job, {"RUNNING"}, 20)
        return job

    def wait_state(self, job, states, limit_s):
        """Of one job by its id."""
        wait_for(lambda: [row for row in self.jobs() if row["id"] == str(job) and row["state"] in states], limit_s, f"{job}: {states}")

    # --- studies

    def study(self, local, *options):
        """One like `local` in a workspace of its own, with the same sweep file."""
        study = SlurmStudy(self, self.lab, options)
        study.sweep = local.sweep
        self.studies.append(study)
        return study

    def check_result(self, study, local):
        """What is stored and what is reported is what the local launcher came to."""
        self.assertEqual(study.difference(local.content()), {})
        self.assertEqual(study.table(), local_table(local))
        trials = {path.parent.parent.name for path in local.files("done.json")}
        self.assertEqual(set(study.final_attempts()), trials)

    def check_finished(self, result, study, local):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + study.story())
        self.check_result(study, local)


def local_table(study):
    return table_of(study.report("csv"))


def table_of(text):
    """The arms of a report, without hosts."""
    rows = list(csv.DictReader(io.StringIO(text.split("\n\n")[0])))
    assert rows, text
    return [{key: value for key, value in row.items() if key != "failure_host"} for row in rows]


class LocalStudy(FakeStudy):
    """One to compare with: carried out by this machine."""

    left_out = OF_THIS_RUN | OF_THIS_PLACE

    def __init__(self, case, sweep=SWEEP):
        super().__init__(case, sweep)
        self.place = self.folder  # a program that crashes leaves its core file there

    @classmethod
    def finished(cls, case, *arguments, **options):
        study = cls(case, *arguments)
        result = study.run(**options)
        assert result.returncode == 0, result.stdout + result.stderr
        return study


class SlurmStudy(LocalStudy):
    def __init__(self, case, lab, options):
        super().__init__(case)
        self.lab = lab
        self.options = ["--launcher", "slurm", *([] if "--time" in options else ["--time", "5"]), *options]

    def environment(self, fake="", **more):
        return {**self.lab.environment(), "REMATCH_TRAINER": str(BIN / "fake_trainer"), "REMATCH_FAKE": fake, **more}

    def run(self, *more, limit_s=120, **options):
        return self.rematch("run", self.sweep, *self.options, *more, limit_s=limit_s, **options)

    @contextlib.contextmanager
    def following(self, *more, **options):
        with self.started("run", self.sweep, *self.options, *more, **options) as controller:
            yield controller

    def table(self):
        return local_table(self)

    # --- documents

    def study_folder(self):
        folder, = self.root.glob("studies/*")
        return folder

    def study_id(self):
        return self.study_folder().name.rpartition("-")[2]

    def log(self):
        path = self.folder / "controller.log"
        return path.read_text() if path.is_file() else ""

    def submissions(self):
        return read_documents(self.root.glob("studies/*/submissions/*.json"))

    def runners(self):
        return read_documents(self.root.glob("studies/*/runners/*.json"))

    def num_done(self):
        return len(self.files("done.json"))

    def wait_submitted(self):
        """The latest document that has a job's id."""
        return self.wait(lambda: [document for document in self.submissions() if document["job_id"] is not None], 30, "a job's id")[-1]

    def wait_done(self, count, limit_s=60):
        self.wait(lambda: self.num_done() >= count, limit_s, f"{count} trials that are done")

    def wait_in_flight(self):
        """Until the ranks of an attempt that has not ended are past their start."""
        def is_in_flight(folder):
            ranks = list(folder.glob("rank-*.jsonl"))
            return not (folder / "launch.json").exists() and ranks and all(len(records(path)) > 4 for path in ranks)

        self.wait(lambda: any(map(is_in_flight, self.root.glob("studies/*/trials/*/attempt-*"))), 30, "a trial in flight")

    def wait_runner(self, end, limit_s=60):
        """Until a runner has said that it ended so."""
        self.wait(lambda: end in [runner["end"] for runner in self.runners()], limit_s, f"a runner that is {end}")

    def wait(self, condition, limit_s, what):
        """As wait_for; a wait in vain tells all that is known of the study."""
        try:
            return wait_for(condition, limit_s, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story()}") from error

    def story(self):
        documents = [json.dumps(document) for document in self.submissions() + self.runners()]
        return "\n".join(["--- controller", self.log(), "--- job", self.job_output(), "--- documents", *documents])

    def job_output(self):
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.root.glob("studies/*/submissions/*.out")))


def wait_exit(controller, study, limit_s):
    """The exit code of a controller that follows."""
    try:
        return controller.wait(timeout=time_allowance(limit_s))
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{error}\n{study.story()}") from error
