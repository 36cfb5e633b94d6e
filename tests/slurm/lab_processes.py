"""Which processes belong to a lab's folder: daemons by a variable of their environment, step daemons by the log that they hold open (they
overwrite their environment with their title), processes of jobs by Slurm's variables. Nothing is ever looked for by a program's name."""
import contextlib
import os
import pathlib
import signal
import time

LAB_VARIABLE = "SLURM_LAB"
CONF_VARIABLE = "SLURM_CONF"


def wait_until(condition, limit_s, step_s=0.03):
    """Polls until the condition yields something true, and returns that; None when the limit passed."""
    deadline = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            return None
        time.sleep(step_s)


def is_alive(pid):
    """A process that has ended and was not waited for yet is not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] not in ("Z", "X", "")
    except OSError:
        return False


def variables(pid):
    with contextlib.suppress(OSError):
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in (entry.partition(b"=") for entry in entries)}
    return {}


def command_line(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def open_files(pid):
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
    return found


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


class LabProcesses:
    """The live processes of the lab below `folder`, which need not exist any more."""

    def __init__(self, folder):
        self.folder = str(folder)

    def daemons(self):
        """munged, slurmctld, slurmd and, with accounting, mariadbd and slurmdbd."""
        return [pid for pid in all_pids() if variables(pid).get(LAB_VARIABLE) == self.folder and is_alive(pid)]

    def step_daemons(self, node=""):
        """slurmstepd of all nodes or of one."""
        log = f"{self.folder}/log/slurmd.{node}." if node else f"{self.folder}/log/slurmd."
        return [pid for pid in all_pids() if command_line(pid).startswith("slurmstepd") and is_alive(pid)
                and any(path.startswith(log) for path in open_files(pid))]

    def of_jobs(self, node=None):
        """pid -> command line of what batch scripts and steps started, on all nodes or on one."""
        found = {}
        for pid in all_pids():
            own = variables(pid)
            if own.get(CONF_VARIABLE) == f"{self.folder}/slurm.conf" and "SLURM_JOB_ID" in own and is_alive(pid):
                if node is None or own.get("SLURMD_NODENAME") == node:
                    found[pid] = command_line(pid)
        return found

    def mounts(self):
        return [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()
                if line.split()[1].startswith(self.folder + "/") or line.split()[1] == self.folder]

    def shared_memory(self):
        """Files of /dev/shm that are named after the folder, or held open by a process of it."""
        with contextlib.suppress(OSError):
            held = {path for pid in self.daemons() + self.step_daemons() for path in open_files(pid) if path.startswith("/dev/shm/")}
            return sorted(held | {entry.path for entry in os.scandir("/dev/shm") if pathlib.Path(self.folder).name in entry.name})
        return []


def end_all(find, grace_s=5):
    """SIGTERM to all that `find` names, SIGKILL to those that are left after the grace; returns those that are there even then."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in find():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if wait_until(lambda: not find(), grace_s):
            return []
    return list(find())


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
