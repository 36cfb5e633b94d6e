"""One rank of a trial on meta, which needs no peers: what it wrote and what it took."""
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

LIMIT_S = 60


class RankFailed(Exception):
    pass


class MeasuredRank:
    """Runs it to its end: `records`, seconds of wall time `wall_s` and of processor time `processor_s`, and the largest resident set `rss_bytes`.
    Raises RankFailed when it ends badly or, killed, takes over limit_s."""

    def __init__(self, trainer, document, rank, options=(), limit_s=LIMIT_S):
        with tempfile.TemporaryDirectory(prefix="rematch-rank-") as name:
            folder = pathlib.Path(name)
            (folder / "trial.json").write_text(json.dumps(document))
            environment = {"RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": str(document["parallel"]["world_size"]), "MASTER_ADDR": "127.0.0.1",
                           "MASTER_PORT": "1", "OMP_NUM_THREADS": "1"}
            with (folder / "log").open("w") as log:
                command = [str(trainer), "--trial", str(folder / "trial.json"), *map(str, options)]
                self._wait(subprocess.Popen(command, env={**os.environ, **environment}, stdout=log, stderr=log), rank, limit_s)
            if self.exit_code:
                raise RankFailed(f"rank {rank} ended with {self.exit_code}: {(folder / 'log').read_text(errors='replace')}")
            self.records = [json.loads(line) for line in (folder / f"rank-{rank:05d}.jsonl").read_text().splitlines()]

    def _wait(self, process, rank, limit_s):
        begin, is_over = time.monotonic(), threading.Event()

        def end():
            is_over.set()
            process.kill()

        deadline = threading.Timer(limit_s, end)
        deadline.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            deadline.cancel()
        self.wall_s = time.monotonic() - begin
        self.exit_code = process.returncode = os.waitstatus_to_exitcode(status)
        if is_over.is_set():
            raise RankFailed(f"rank {rank} was not done after {limit_s} s")
        self.processor_s, self.rss_bytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
