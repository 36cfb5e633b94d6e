"""A workspace folder of the end-to-end tests: runs the real `rematch` in it, reads what it left in the database and in the trial folders."""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time

ROOT = pathlib.Path(os.environ.get("REMATCH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BIN = pathlib.Path(os.environ.get("REMATCH_BIN_DIR", ROOT / "build" / "release" / "bin"))
TIME_SCALE = int(os.environ.get("REMATCH_TEST_TIME_SCALE", 1))

# One dense and one MoE layer, small enough for trials of a second or two.
TINY_SWEEP = """\
schema: rematch/sweep/1
name: tiny
model:
  preset: moonlight_16b
  num_layers: 2
  hidden_size: 64
  num_attention_heads: 4
  kv_lora_rank: 32
  qk_head_dim: 16
  qk_pos_emb_head_dim: 8
  v_head_dim: 16
  ffn_hidden_size: 176
  num_moe_experts: 8
  moe_router_topk: 2
  moe_ffn_hidden_size: 48
  moe_shared_expert_intermediate_size: 96
  padded_vocab_size: 256
training: {seq_length: 128, micro_batch_size: 1, global_batch_size: 2, train_iters: 24, seed: 1234, bf16: true}
parallel: {world_size: 2, expert_model_parallel_size: 2}
backend: {device: cpu, attention: fused}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
  labels: [moe_act, moe]
measure: {blocks: 1, steady_steps: 10, warmup: 3}
launch: {kind: local, timeout: 60s}
"""


def time_allowance(seconds):
    """An upper bound that is written for programs without sanitizers, for those that are tested; see cmake/Sanitizers.cmake."""
    return seconds * TIME_SCALE


def end(process):
    """Asks the controller to stop, and makes it when it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=time_allowance(30))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)


class Workspace:
    def __init__(self, case):
        folder = tempfile.TemporaryDirectory(prefix="rematch-e2e-")
        (case.addClassCleanup if isinstance(case, type) else case.addCleanup)(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "runs"

    def write_sweep(self, text, name="sweep.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def command(self, *arguments):
        return [str(BIN / "rematch"), "--workspace", str(self.root), *map(str, arguments)]

    def rematch(self, *arguments, limit_s=300):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=time_allowance(limit_s), cwd=ROOT)

    @contextlib.contextmanager
    def running(self, *arguments):
        """The controller in the background; ended for sure when the block is left."""
        log = self.folder / "controller.log"
        with log.open("w") as output:
            process = subprocess.Popen(self.command(*arguments), stdout=output, stderr=output, cwd=ROOT)
            try:
                yield process
            finally:
                end(process)

    def log(self):
        return (self.folder / "controller.log").read_text()

    def report(self, form="json"):
        result = self.rematch("report", "-f", form)
        if result.returncode or not result.stdout:
            raise AssertionError(f"report -f {form} ended with {result.returncode}: {result.stderr}")
        return json.loads(result.stdout) if form == "json" else result.stdout

    def rows(self, sql, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.root / 'rematch.db'}?mode=ro", uri=True)) as database:
            return database.execute(sql, values).fetchall()

    def dump(self):
        tables = [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: sorted(map(repr, self.rows(f'SELECT * FROM "{name}"'))) for name in tables}

    def files(self, pattern):
        return sorted(self.root.glob(f"studies/*/trials/*/attempt-*/{pattern}"))

    def trial_of(self, path):
        return json.loads((path.parent / "trial.json").read_text())

    def processes(self):
        """Command lines of live processes that name this workspace, the controller's own among them."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
                if str(self.root) in words:
                    found[int(entry.name)] = words.strip()
        return found


def records(path):
    """The whole lines of a rank's record; a torn tail is left out."""
    text = path.read_text(errors="replace") if path.is_file() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def wait_for(condition, limit_s, what):
    """Polls until the condition yields something true, and returns it."""
    limit_s = time_allowance(limit_s)
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {limit_s} s in vain for {what}")
