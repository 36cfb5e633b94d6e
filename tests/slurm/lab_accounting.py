"""Accounting of a lab, for sacct: a database server and slurmdbd of its own."""
import getpass
import os
import pathlib
import subprocess

PROGRAMS = ("mariadbd", "mariadb-install-db", "slurmdbd", "my_print_defaults")


def database_options(folder):
    return ["--no-defaults", f"--user={getpass.getuser()}", f"--datadir={folder}/db/data"]


def slurmdbd_conf(folder, port, database_port):
    return f"""\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.sock,cred_expire=10
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database_port}
StorageUser=slurm
StoragePass=lab
StorageLoc=slurm_lab
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/run/slurmdbd.daemon.pid
DebugLevel=info
CommitDelay=1
"""


def prepare(folder, port, database_port, environment):
    """Makes the database's files and slurmdbd.conf; returns the command of the database server."""
    folder = pathlib.Path(folder)
    (folder / "db").mkdir()
    install = subprocess.run(["mariadb-install-db", *database_options(folder), "--auth-root-authentication-method=normal", "--skip-test-db",
                              "--skip-name-resolve", "--innodb-log-file-size=8M"],
                             capture_output=True, text=True, timeout=60, env=environment)
    if install.returncode:
        raise OSError(f"mariadb-install-db ended with {install.returncode}: {install.stdout}{install.stderr}")
    (folder / "db" / "init.sql").write_text("CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY 'lab';\n"
                                            "GRANT ALL ON slurm_lab.* TO 'slurm'@'127.0.0.1';\n")
    with os.fdopen(os.open(folder / "slurmdbd.conf", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(slurmdbd_conf(folder, port, database_port))
    return ["mariadbd", *database_options(folder), f"--socket={folder}/db/sock", f"--pid-file={folder}/run/mariadbd.daemon.pid",
            "--bind-address=127.0.0.1", f"--port={database_port}", "--skip-name-resolve", f"--init-file={folder}/db/init.sql",
            "--skip-log-bin", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0",
            "--innodb-lock-wait-timeout=900", "--performance-schema=OFF", "--max-connections=20"]
