"""Trials of a published sweep on the meta device, and one rank of one of them: what the scripts that measure predictions share."""
import json
import pathlib
import subprocess

from measured_rank import MeasuredRank, RankFailed

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


def run_rank(document, rank, options=()):
    """The MeasuredRank."""
    try:
        return MeasuredRank(TRAINER, document, rank, options, LIMIT_S)
    except RankFailed as failure:
        raise SystemExit(str(failure))
