"""A Python environment with PyTorch, outside the tree: made the first time, found the next."""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TORCH = "torch==2.11.0"
# What `import torch` and the optimizer's first step load of that wheel's dependencies, and no more: no Triton, no solver, no compiler.
NEEDED = ["filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "sympy", "typing-extensions", "nvidia-cuda-runtime==13.0.*",
          "nvidia-cuda-cupti==13.0.*", "nvidia-cublas==13.1.*", "nvidia-cufft==12.0.*", "nvidia-cufile==1.15.*", "nvidia-curand==10.4.*",
          "nvidia-cusparse==12.6.*", "nvidia-nvjitlink==13.0.*", "nvidia-cudnn-cu13==9.19.0.56", "nvidia-cusparselt-cu13==0.8.0",
          "nvidia-nccl-cu13==2.28.9", "nvidia-nvshmem-cu13==3.4.5"]
SIZES = "about 2.2 GB to download, 3.5 GB on disk"
LIMIT_S = 1800
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rematch" / "compare-pytorch"


class CannotRun(Exception):
    """Something that this machine lacks; the message says what, and what to do."""


def python_with_pip():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            return python
    raise CannotRun("wanted pip to fetch PyTorch, found none; install python3-pip")


def install(folder):
    python = python_with_pip()
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True, stdout=sys.stderr)
    command = [python, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet", "--disable-pip-version-check",
               "--root-user-action=ignore", "--no-deps", "--only-binary=:all:", TORCH, *NEEDED]
    try:
        status = subprocess.run(command, stdout=sys.stderr, timeout=LIMIT_S).returncode
    except subprocess.TimeoutExpired:
        status = f"no answer in {LIMIT_S} s"
    if status:
        raise CannotRun(f"pip could not fetch {TORCH} ({status}, see above); check the network and the free space in {CACHE}, then try again")


def pytorch_python():
    """The interpreter of the environment. A download that breaks off leaves nothing that a later call would take for whole."""
    environment = CACHE / TORCH.replace("==", "-")
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not environment.is_dir():
            print(f"compare_pytorch: installing {TORCH} into {environment} ({SIZES}); this is done once", file=sys.stderr)
            partial = pathlib.Path(tempfile.mkdtemp(prefix="partial.", dir=CACHE))
            try:
                install(partial)
                partial.rename(environment)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return environment / "bin" / "python"
