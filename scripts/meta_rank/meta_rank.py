"""Trials of a published sweep on the meta device, and one rank of one of them: what the scripts that measure predictions share."""
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "release" / "bin"
TRAINER = BIN / "rematch-train"
PUBLISHED = ROOT / "sweeps" / "published"
STEPS = 3
LIMIT_S = 60


def output_of(command):
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S)
    if ended.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {ended.returncode}: {ended.stderr or ended.stdout}")
    return ended.stdout


def trials(sweep, settings):
    """Of each arm of the sweep one trial with these settings on meta, as the trainer reads it, with the ranks' own bytes alone: no assumed
    workspaces and no capacity; the control first."""
    settings = {"simulate.train_iters": STEPS, **settings}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    planned = json.loads(output_of([BIN / "rematch", "plan", "--simulate", "--json", PUBLISHED / sweep, *words]))["study"]["trials"]
    by_arm = {trial["arm"]: {**trial, "prediction": None, "backend": {**trial["backend"], "memory_limit_bytes": None}} for trial in planned}
    return sorted(by_arm.values(), key=lambda trial: (not trial["is_control"], len(trial["arm"]), trial["arm"]))


class Cost:
    """What one rank took: seconds of wall time and of processor time, and the largest resident set."""

    def __init__(self, document, rank, options=()):
        with tempfile.TemporaryDirectory(prefix="rematch-predict-") as folder:
            path = pathlib.Path(folder) / "trial.json"
            path.write_text(json.dumps(document))
            environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(document["parallel"]["world_size"]), "OMP_NUM_THREADS": "1"}
            begin = time.monotonic()
            process = subprocess.Popen([str(TRAINER), "--trial", str(path), *options], env=environment, stderr=subprocess.PIPE)
            message = process.stderr.read()
            process.stderr.close()
            _, status, usage = os.wait4(process.pid, 0)
            self.wall_s = time.monotonic() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"rank {rank} ended with {process.returncode}: {message.decode()}")
        self.processor_s, self.rss_bytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
