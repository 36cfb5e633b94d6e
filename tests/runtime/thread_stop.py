"""Stops one thread of another process and lets the others run, as a debugger does: ptrace, by ctypes."""
import contextlib
import ctypes
import os
import subprocess

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _ptrace(request, thread):
    if _libc.ptrace(ctypes.c_long(request), ctypes.c_long(thread), ctypes.c_void_p(0), ctypes.c_void_p(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace request {request:#x} of thread {thread}: {os.strerror(number)}")


@contextlib.contextmanager
def stopped_thread(thread):
    """The thread stands still inside the block. A process' main thread has the process' id. The process may die meanwhile."""
    _ptrace(PTRACE_SEIZE, thread)
    _ptrace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            _ptrace(PTRACE_DETACH, thread)


def refusal():
    """Why this machine lets nobody stop a thread so; None where it does."""
    child = subprocess.Popen(["sleep", "10"])
    try:
        with stopped_thread(child.pid):
            return None
    except PermissionError as error:
        return str(error)
    finally:
        child.kill()
        child.wait()
