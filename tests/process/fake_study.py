"""A small study through `rematch` and the fake trainer: three arms, one block, four trials of some ten milliseconds."""
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from workspace import BIN, ROOT, TIME_SCALE, Workspace, time_allowance, wait_for  # noqa: E402,F401: the tests of this folder take them from here

SWEEP = """\
schema: rematch/sweep/1
name: fake
model: {preset: moonlight_16b, num_layers: 4}
training: {seq_length: 64, micro_batch_size: 1, global_batch_size: 4, train_iters: 6, seed: 1234, bf16: true}
parallel: {world_size: 2, expert_model_parallel_size: 2}
backend: {device: cpu, attention: fused}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
  labels: [moe_act, moe]
measure: {blocks: 1, steady_steps: 3, warmup: 2}
launch: {kind: local, timeout: 20s}
"""
NUM_TRIALS = 4

# Columns that hold a time of this run or name one of its processes; the fake trainer's step times are fixed.
OF_THIS_RUN = {"start_unix_ns", "end_unix_ns", "start_mono_ns", "end_mono_ns", "unix_ns", "mono_ns", "hello_unix_ns", "bye_unix_ns", "pid", "record_pid",
               "launch_document", "attempt"}
# Facts of a report that do: how long launches took, and the folder of one attempt.
FACTS_OF_THIS_RUN = {"device_hours_spent", "reproduce"}


class FakeStudy(Workspace):
    """`fake` is the value of REMATCH_FAKE, see tests/support/fake_trainer/behaviour.h."""

    # Columns that content() leaves out.
    left_out = OF_THIS_RUN
    # Where the controller is called, and so where jobs work.
    place = ROOT

    def __init__(self, case, sweep=SWEEP):
        super().__init__(case)
        self.sweep = self.write_sweep(sweep)

    def environment(self, fake="", **more):
        return {**os.environ, "REMATCH_TRAINER": str(BIN / "fake_trainer"), "REMATCH_FAKE": fake, **more}

    def rematch(self, *arguments, limit_s=60, fake="", prefix=(), **environment):
        return subprocess.run([*prefix, *self.command(*arguments)], capture_output=True, text=True, timeout=time_allowance(limit_s), cwd=self.place,
                              env=self.environment(fake, **environment))

    def run(self, *more, **options):
        return self.rematch("run", self.sweep, *more, **options)

    @contextlib.contextmanager
    def started(self, *arguments, fake="", **environment):
        """The controller in the background, its output in a file; killed for sure when the block is left."""
        with (self.folder / "controller.log").open("w") as output:
            process = subprocess.Popen(self.command(*(arguments or ("run", self.sweep))), stdout=output, stderr=output, cwd=self.place,
                                       env=self.environment(fake, **environment))
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait(timeout=10)

    def final_attempts(self):
        """trial -> the number of its attempt that is marked done; a trial that is done twice fails the test."""
        final = {}
        for path in self.files("done.json"):
            document = json.loads(path.read_text())
            assert document["trial_id"] not in final, f"{path}: done for the second time"
            final[document["trial_id"]] = document["attempt"]
        return final

    def unfinish(self):
        """As after a power cut: the mark of the last trial is gone."""
        self.files("done.json")[-1].unlink()

    def content(self, root=None):
        """Every row of the database outside of the attempt table, without times and process ids; of attempts those that count."""
        final = self.final_attempts()
        content = {}
        with contextlib.closing(sqlite3.connect(f"file:{(root or self.root) / 'rematch.db'}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'attempt' ORDER BY name")]
            for table in tables:
                rows = [dict(row) for row in database.execute(f'SELECT * FROM "{table}"')]
                content[table] = sorted(repr(untimed(row, self.left_out)) for row in rows if counts(table, row, final))
        return content

    def difference(self, content):
        """Nothing when this database holds just this content; else of each table that differs a row or two that only one of them has."""
        own = self.content()
        only = {table: [sorted(set(a.get(table, ())) - set(b.get(table, ())))[:1] for a, b in ((own, content), (content, own))] for table in own | content}
        return {table: only[table] for table in only if own.get(table) != content.get(table)}

    def marked_processes(self):
        """Pids of live processes whose environment says that they belong to an attempt of this workspace."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if b"REMATCH_ATTEMPT=" + os.fsencode(self.root.resolve()) in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
        return found


def counts(table, row, final):
    if table == "verdict" and row["scope"] == "run":
        trial, attempt = row["subject"].split("/")
        return final.get(trial) == int(attempt)
    return "attempt" not in row or final.get(row["trial_id"]) == row["attempt"]


def untimed(row, left_out=OF_THIS_RUN):
    kept = {name: value for name, value in row.items() if name not in left_out}
    if kept.get("scope") == "run":
        kept["subject"] = kept["subject"].split("/")[0]
    if "model" in kept:
        model = json.loads(kept["model"])
        for part in ("header", "answer"):
            model[part] = [fact for fact in model[part] if fact[0] not in FACTS_OF_THIS_RUN]
        kept["model"] = json.dumps(model, sort_keys=True)
    return kept


class Mounts:
    """Runs a shell script in a mount namespace of its own. `why_not()`: None, or why this user or machine cannot."""

    @staticmethod
    def why_not():
        if not shutil.which("unshare"):
            return "unshare(1) is not installed"
        with tempfile.TemporaryDirectory(prefix="rematch-mount-") as folder:
            tried = Mounts.run(f"mount -t tmpfs -o size=64k tmpfs {folder}")
        return None if tried.returncode == 0 else "a tmpfs cannot be mounted here: " + tried.stderr.strip()

    @staticmethod
    def run(script, limit_s=60, **options):
        return subprocess.run(["unshare", "--mount", "bash", "-c", script], capture_output=True, text=True, timeout=time_allowance(limit_s), **options)
