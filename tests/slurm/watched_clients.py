"""Programs before Slurm's own on PATH, which note each call and how it ended, and run the real one."""
import os

CLIENTS = ("sbatch", "squeue", "scancel", "sacct", "scontrol", "sinfo")
PROGRAM = """\
#!/bin/bash
echo "$(date +%s.%N) begins {name}" >>{log}
PATH="{path}" {name} "$@"
code=$?
echo "$(date +%s.%N) ends {name} $code" >>{log}
exit $code
"""


class WatchedClients:
    """`path` is PATH with these programs first."""

    def __init__(self, folder, path):
        self.log = folder / "calls"
        self.log.write_text("")
        programs = folder / "clients"
        programs.mkdir()
        for name in CLIENTS:
            (programs / name).write_text(PROGRAM.format(name=name, log=self.log, path=path))
            (programs / name).chmod(0o755)
        self.path = f"{programs}{os.pathsep}{path}"

    def lines(self, what):
        """Words of complete lines: seconds since the epoch, what, program, exit code of one that ended."""
        words = [line.split() for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in words if line[1] == what]

    def calls(self):
        """Seconds since the epoch, program; those in flight too."""
        return [(float(line[0]), line[2]) for line in self.lines("begins")]

    def failed(self):
        """Programs that ended with another exit code than 0."""
        return [line[2] for line in self.lines("ends") if line[3] != "0"]
