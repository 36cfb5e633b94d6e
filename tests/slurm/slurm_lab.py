"""A real Slurm of several nodes on one machine, below one folder: for tests, for any user, beside other labs. Nothing outside of the folder
is touched but ports of 127.0.0.1.

    slurm_lab.py start DIR [--nodes 4] [--dbd]    returns when every node is idle; --dbd: accounting, for sacct
    slurm_lab.py env DIR                          what a shell needs: eval "$(slurm_lab.py env DIR)"
    slurm_lab.py kill-node|fail-node|start-node DIR NODE      a crash; a crash that the controller knows of at once; back again
    slurm_lab.py kill-controller|start-controller DIR
    slurm_lab.py leftovers DIR                    what belongs to the lab now: a line each, none after stop
    slurm_lab.py stop DIR                         ends jobs and daemons, removes DIR
"""
import argparse
import contextlib
import getpass
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

import lab_accounting
import lab_config
from lab_processes import CONF_VARIABLE, LAB_VARIABLE, LabProcesses, command_line, end_all, is_alive, kill, wait_until

PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
# A start that finds a port taken in the meantime, by another lab for one, is tried again with others.
NUM_STARTS = 3
START_LIMIT_S = 30
# From the end of a job as its client sees it until its last process has gone.
JOB_END_LIMIT_S = 10


class LabError(Exception):
    """The lab could not be brought to the state that was asked for; the text says why."""


class SlurmLab:
    """`folder` must not exist or be empty before start(). One thread."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.processes = LabProcesses(self.folder)
        self.started = []  # Popen objects of this process: to be waited for
        self.guard_pipe = None

    @staticmethod
    def why_not(dbd=False):
        """None, or why no lab can be started here."""
        wanted = PROGRAMS + (lab_accounting.PROGRAMS if dbd else ())
        missing = [name for name in wanted if not shutil.which(name, path=SEARCH_PATH)]
        return f"not installed: {' '.join(missing)} (scripts/setup --tests installs them)" if missing else None

    # --- start and stop

    def start(self, nodes=4, dbd=False, extra=None):
        """Returns when all nodes are idle. `extra`: keys of slurm.conf that replace the lab's. The lab ends with this process."""
        missing = self.why_not(dbd)
        if missing:
            raise LabError(missing)
        if self.folder.exists() and any(self.folder.iterdir()):
            raise LabError(f"{self.folder} is not empty: another lab?")
        for attempt in range(1, NUM_STARTS + 1):
            try:
                self.start_once(lab_config.node_names(nodes), dbd, extra or {})
                return self
            except LabError as error:
                logs = self.log_tails()
                self.stop()
                if attempt == NUM_STARTS:
                    raise LabError(f"{error}\n{logs}") from error
        return self

    def start_once(self, nodes, dbd, extra):
        self.write_files(nodes, dbd, extra)
        self.guard()
        run = self.folder / "run"
        # --force: folders above the socket may be closed to other users.
        self.spawn("munged", "munged", "-F", "--force", f"--key-file={run}/munge.key", f"--socket={run}/munge.sock",
                   f"--pid-file={run}/munged.daemon.pid", f"--log-file={self.folder}/log/munged.log", f"--seed-file={run}/munge.seed")
        self.wait("munged", lambda: self.call("munge", "-n", "-S", f"{run}/munge.sock"))
        if dbd:
            self.start_accounting()
        self.spawn("slurmctld", "slurmctld", "-D", "-f", str(self.conf))
        for node in nodes:
            self.spawn_node(node)
        self.wait("idle nodes", lambda: self.call("sinfo", "-h", "-p", "main", "-t", "idle", "-o", "%D") == str(len(nodes)))

    def write_files(self, nodes, dbd, extra):
        for name in ("run", "log", "state", *(f"spool/{node}" for node in nodes)):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o755)
        names = ["controller", "accounting", "database", *nodes]
        ports = dict(zip(names, lab_config.free_ports(len(names))))
        self.database_port = ports["database"]
        self.accounting_port = ports["accounting"]
        self.conf.write_text(lab_config.slurm_conf(self.folder, {**ports, "accounting": ports["accounting"] if dbd else 0}, nodes, extra))
        (self.folder / "cgroup.conf").write_text(lab_config.cgroup_conf(self.call("slurmd", "-V")))
        lab_config.write_devices(self.folder)
        with os.fdopen(os.open(self.folder / "run" / "munge.key", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as key:
            key.write(os.urandom(128))

    def start_accounting(self):
        try:
            command = lab_accounting.prepare(self.folder, self.accounting_port, self.database_port, self.daemon_environment("install"))
        except OSError as error:
            raise LabError(str(error)) from error
        self.spawn("mariadbd", *command)
        self.wait("mariadbd", lambda: self.listens(self.database_port))
        self.spawn("slurmdbd", "slurmdbd", "-D")
        self.wait("slurmdbd", lambda: self.call("sacctmgr", "-n", "show", "cluster") is not None)

    def stop(self):
        """Ends jobs and daemons and removes the folder. Does nothing where there is no lab."""
        if self.conf.is_file() and self.daemon_alive("slurmctld"):
            for more in (["--full", "--signal=KILL", "--state=RUNNING"], []):
                self.call("scancel", "--quiet", *more, f"--user={getpass.getuser()}", limit_s=5)
            wait_until(lambda: not self.processes.step_daemons(), 3)
        left = end_all(lambda: self.reaped(self.processes.daemons() + self.processes.step_daemons()))
        left += end_all(self.processes.of_jobs, grace_s=1)
        for process in self.started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
        self.started = []
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.guard_pipe is not None:
            os.close(self.guard_pipe)
            self.guard_pipe = None
        if left:
            raise LabError("could not end " + ", ".join(f"{pid} ({command_line(pid)})" for pid in left))

    def end(self):
        """As stop(), for tests: what jobs left behind, and the lab itself, is ended all the same and then is an error."""
        wait_until(lambda: not self.job_leftovers(), JOB_END_LIMIT_S)
        left = self.job_leftovers()
        self.stop()
        left += self.leftovers()
        if left:
            raise LabError("left behind: " + "; ".join(left))

    def leftovers(self):
        """A line for each process, mount and piece of shared memory that belongs to the folder."""
        pids = self.reaped(self.processes.daemons() + self.processes.step_daemons())
        lines = [f"process {pid}: {command_line(pid)}" for pid in pids]
        return lines + self.job_leftovers() + [f"mount {path}" for path in self.processes.mounts()] + self.processes.shared_memory()

    def job_leftovers(self):
        """The same of jobs alone: batch scripts, steps and whatever they started."""
        return [f"process of a job {pid}: {command}" for pid, command in self.processes.of_jobs().items()]

    # --- for those who use it

    @property
    def conf(self):
        return self.folder / "slurm.conf"

    def variables(self):
        """The variables by which Slurm's commands find this cluster."""
        return {CONF_VARIABLE: str(self.conf)}

    def environment(self):
        """This process's environment with those variables, without what a job around it has set."""
        of_slurm = ("SLURM_", "SBATCH_", "SRUN_", "SQUEUE_", "SACCT_")
        outer = {name: value for name, value in os.environ.items() if not name.startswith(of_slurm)}
        return {**outer, "PATH": SEARCH_PATH, **self.variables()}

    def call(self, *command, limit_s=20):
        """Text that a client command printed; None when it failed or did not answer in time. Jobs work in the lab's folder."""
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, env=self.environment(), cwd=self.folder)
        except (subprocess.TimeoutExpired, FileNotFoundError):
            return None
        return result.stdout.strip() if result.returncode == 0 else None

    def kill_node(self, node):
        """A crash: slurmd, its step daemons and all that its jobs run there. The controller notices after some 28 s."""
        pids = [self.daemon_pid(f"slurmd.{node}"), *self.processes.step_daemons(node)]
        kill(pids)
        kill(self.processes.of_jobs(node))
        self.wait_for_end(pids)

    def fail_node(self, node):
        """The same, and the controller is told: the node is DOWN when this returns."""
        self.kill_node(node)
        if self.call("scontrol", "update", f"nodename={node}", "state=down", "reason=failed by a test") is None:
            raise LabError(f"scontrol could not set {node} down")

    def start_node(self, node):
        self.spawn_node(node)
        self.wait(f"{node} idle", lambda: self.call("sinfo", "-h", "-p", "main", "-n", node, "-t", "idle", "-o", "%D") == "1")

    def kill_controller(self):
        pid = self.daemon_pid("slurmctld")
        kill([pid])
        self.wait_for_end([pid])

    def start_controller(self):
        self.spawn("slurmctld", "slurmctld", "-D", "-f", str(self.conf))
        self.wait("slurmctld", lambda: "is UP" in (self.call("scontrol", "ping") or ""))

    def has_saved(self, name):
        """The controller knows the job again after a crash. It saves what it knows every few seconds."""
        path = self.folder / "state" / "job_state"
        return path.is_file() and name.encode() in path.read_bytes()

    def lose_jobs(self):
        """A crash after which the controller knows no job and gives their ids again, as if it had not saved them yet. A node ends what
        it runs of such a job some seconds later, when the controller asks it."""
        self.kill_controller()
        for path in (self.folder / "state").glob("job_state*"):
            path.unlink()
        self.start_controller()

    def refuse_launches(self, node):
        """Batch scripts cannot start there: Slurm puts such a job back into the queue, held."""
        spool = self.folder / "spool" / node
        spool.rename(spool.with_suffix(".kept"))
        spool.write_text("")

    def allow_launches(self, node):
        spool = self.folder / "spool" / node
        spool.unlink()
        spool.with_suffix(".kept").rename(spool)

    # --- processes

    def daemon_environment(self, part):
        return {**self.environment(), LAB_VARIABLE: str(self.folder), "SLURM_LAB_PART": part}

    def spawn(self, part, *command):
        """A daemon in the foreground, in a session of its own and the lab's folder, where a core file goes; its process id in run/PART.pid."""
        with open(self.folder / "log" / f"{part}.out", "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                       env=self.daemon_environment(part), cwd=self.folder)
        (self.folder / "run" / f"{part}.pid").write_text(str(process.pid))
        self.started.append(process)

    def spawn_node(self, node):
        self.spawn(f"slurmd.{node}", "slurmd", "-D", "-N", node, "-f", str(self.conf))

    def daemon_pid(self, part):
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / "run" / f"{part}.pid").read_text())
        return None

    def daemon_alive(self, part):
        pid = self.daemon_pid(part)
        return pid is not None and pid in self.processes.daemons()

    def reaped(self, pids):
        """Those that live; of this process's own children those that ended are waited for."""
        left = [pid for pid in pids if is_alive(pid)]
        self.started = [process for process in self.started if process.poll() is None]
        return left

    def wait_for_end(self, pids):
        if not wait_until(lambda: self.reaped(pids) == [], 5):
            raise LabError(f"killed processes that do not end: {self.reaped(pids)}")

    def wait(self, what, condition):
        """A daemon that ends meanwhile ends the wait."""
        before = [process for process in self.started if process.poll() is None]

        def ended():
            return [process.args[0] for process in before if process.poll() is not None]
        found = wait_until(lambda: condition() or ended(), START_LIMIT_S)
        if not condition():
            raise LabError(f"wanted {what}, found " + (f"that {', '.join(ended())} ended" if found else f"nothing after {START_LIMIT_S} s"))

    @staticmethod
    def listens(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def log_tails(self):
        tails = []
        for path in sorted((self.folder / "log").glob("*")):
            lines = path.read_text(errors="replace").splitlines()[-15:]
            tails += [f"--- {path.name}", *lines] if lines else []
        return "\n".join(tails)

    def guard(self):
        """A process of its own that stops the lab when this one is gone, however it went."""
        if self.guard_pipe is not None:
            return
        read_end, self.guard_pipe = os.pipe()
        subprocess.run([sys.executable, "-B", __file__, "guard", str(self.folder)], stdin=read_end, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=20)
        os.close(read_end)

    def keep(self):
        """The lab outlives this process. The guard learns that from a byte."""
        if self.guard_pipe is not None:
            os.write(self.guard_pipe, b"k")
            os.close(self.guard_pipe)
            self.guard_pipe = None


def guard(folder):
    """Waits on stdin, as an orphan, so that whoever ends the descendants of a test leaves it alone."""
    if os.fork():
        return
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if not os.read(0, 1):
        time.sleep(0.1)
        with contextlib.suppress(LabError):
            SlurmLab(folder).stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["start", "stop", "env", "leftovers", "kill-node", "fail-node", "start-node", "kill-controller",
                                         "start-controller", "guard"])
    parser.add_argument("folder")
    parser.add_argument("node", nargs="?")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--dbd", action="store_true")
    options = parser.parse_args()
    if options.verb == "guard":
        return guard(options.folder)
    lab = SlurmLab(options.folder)
    if options.verb == "start":
        lab.start(options.nodes, options.dbd).keep()
    elif options.verb == "env":
        print("\n".join(f"export {name}={shlex.quote(value)}" for name, value in lab.variables().items()))
    elif options.verb == "leftovers":
        print("".join(line + "\n" for line in lab.leftovers()), end="")
    elif options.verb.endswith("-node"):
        getattr(lab, options.verb.replace("-", "_"))(options.node)
    else:
        getattr(lab, options.verb.replace("-", "_"))()


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(f"slurm_lab.py: {error}")
