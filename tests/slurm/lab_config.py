"""The files that a Slurm of several nodes on one machine reads: every node a slurmd of its own on a port of the loopback address."""
import contextlib
import getpass
import pathlib
import random
import socket

NUM_CPUS = 8
NUM_DEVICES = 8
MEMORY_MIB = 4000
# A requeued job waits for as long as credentials live, and a second.
CRED_EXPIRE_S = 10

COMMON = {
    "ClusterName": "lab",
    "CommunicationParameters": "NoInAddrAny",
    "SlurmctldDebug": "info",
    "SlurmdDebug": "info",
    "MpiDefault": "none",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "SwitchType": "switch/none",
    "JobAcctGatherType": "jobacct_gather/linux",
    "JobAcctGatherFrequency": "task=1",
    "ReturnToService": "2",
    "SlurmctldTimeout": "10",
    "SlurmdTimeout": "10",
    "KillWait": "2",
    "CompleteWait": "0",
    "MinJobAge": "300",
    "MessageTimeout": "10",
    "BatchStartTimeout": "10",
    "UnkillableStepTimeout": "20",
    "TCPTimeout": "2",
    "EpilogMsgTime": "0",
    "JobRequeue": "1",
    "SchedulerType": "sched/backfill",
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,sched_min_interval=0,sched_max_job_start=0,default_queue_depth=1000,"
                           "bf_interval=1",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core_Memory",
    "DefMemPerCPU": "64",
    "GresTypes": "gpu",
    "SlurmdParameters": "config_overrides",
    "JobCompType": "jobcomp/filetxt",
    "PreemptType": "preempt/partition_prio",
    "PreemptMode": "REQUEUE",
    "AccountingStorageType": "accounting_storage/none",
}

PARTITIONS = """\
PartitionName=main Nodes=ALL Default=YES DefaultTime=10 MaxTime=INFINITE State=UP PriorityTier=10 OverSubscribe=NO PreemptMode=OFF
PartitionName=low Nodes=ALL DefaultTime=10 MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=0
"""


def free_ports(count):
    """Distinct ports of the loopback address that nobody listens on now, below those that the system hands out itself."""
    found = []
    with contextlib.ExitStack() as held:
        for port in random.SystemRandom().sample(range(20000, 31000), 2000):
            with contextlib.suppress(OSError):
                held.enter_context(socket.socket()).bind(("127.0.0.1", port))
                found.append(port)
                if len(found) == count:
                    return found
    raise OSError(f"wanted {count} free ports on 127.0.0.1 between 20000 and 31000, found {len(found)}")


def node_names(count):
    return [f"n{number}" for number in range(1, count + 1)]


def slurm_conf(folder, ports, nodes, extra):
    """`extra` replaces keys. `ports`: "controller", "accounting" (0: none) and one by each node's name."""
    host = socket.gethostname().split(".")[0]
    user = getpass.getuser()
    own = {
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmctldPort": ports["controller"],
        "SlurmUser": user,
        "SlurmdUser": user,
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "AuthInfo": f"socket={folder}/run/munge.sock,cred_expire={CRED_EXPIRE_S}",
        "StateSaveLocation": f"{folder}/state",
        "SlurmdSpoolDir": f"{folder}/spool/%n",
        "SlurmctldPidFile": f"{folder}/run/slurmctld.daemon.pid",
        "SlurmdPidFile": f"{folder}/run/slurmd.%n.daemon.pid",
        "SlurmctldLogFile": f"{folder}/log/slurmctld.log",
        "SlurmdLogFile": f"{folder}/log/slurmd.%n.log",
        "JobCompLoc": f"{folder}/log/jobcomp.txt",
    }
    accounting = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": "127.0.0.1",
        "AccountingStoragePort": ports["accounting"],
        "AccountingStoragePass": f"{folder}/run/munge.sock",  # else its clients look for the system's own munge
        "AccountingStoreFlags": "job_comment",
        "AccountingStorageTRES": "gres/gpu",
    }
    keys = {**COMMON, **own, **(accounting if ports["accounting"] else {}), **extra}
    lines = [f"{key}={value}" for key, value in keys.items()]
    lines += [f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[node]} CPUs={NUM_CPUS} CoresPerSocket={NUM_CPUS} "
              f"RealMemory={MEMORY_MIB} Gres=gpu:fake:{NUM_DEVICES}" for node in nodes]
    return "\n".join(lines) + "\n" + PARTITIONS


def cgroup_conf(version):
    """`version`: what slurmd -V prints. `disabled` came with 24.05; before, a plugin that nobody asks for a cgroup does nothing."""
    year, month = (int(number) for number in version.split()[1].split(".")[:2])
    return "CgroupPlugin=" + ("disabled" if (year, month) >= (24, 5) else "cgroup/v1") + "\n"


def write_devices(folder):
    """Links stand in for devices: slurmd wants a device file, and a link to one needs no rights."""
    devices = pathlib.Path(folder) / "dev"
    devices.mkdir()
    for number in range(NUM_DEVICES):
        (devices / f"fakegpu{number}").symlink_to("/dev/full")
    (pathlib.Path(folder) / "gres.conf").write_text(f"Name=gpu Type=fake File={devices}/fakegpu[0-{NUM_DEVICES - 1}]\n")
