"""scripts/setup and scripts/torch_root on machines that they cannot help: one message that names what is wanted, exit 8, nothing installed."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from tree import ROOT


def write_program(folder, name, body):
    path = pathlib.Path(folder) / name
    path.write_text("#!/bin/sh\n" + body + "\n")
    path.chmod(0o755)


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_program(self.folder, "apt-get", f'echo "$@" >> {self.folder}/apt-calls; exit 100')
        write_program(self.folder, "sudo", 'case "$1" in -n) exit 0 ;; esac; exec "$@"')
        write_program(self.folder, "dpkg-query", "exit 1")

    def run_script(self, name, **variables):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", **variables}
        return subprocess.run([str(ROOT / "scripts" / name)], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)

    def on_system(self, text):
        release = self.folder / "os-release"
        release.write_text(text)
        return self.run_script("setup", REMATCH_OS_RELEASE=str(release))

    def test_another_system_is_told_the_packages_and_nothing_is_installed(self):
        result = self.on_system('ID=fedora\nVERSION_ID=40\nPRETTY_NAME="Fedora Linux 40"\n')
        self.assertEqual(result.returncode, 8)
        for word in ("Debian 12", "Fedora Linux 40", "libboost1.81-dev", "ninja-build"):
            self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "apt-calls").exists())
        self.assertEqual(result.stdout, "")

    def test_packages_that_apt_cannot_install_end_with_the_command_to_run(self):
        result = self.on_system('ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12"\n')
        self.assertEqual(result.returncode, 8)
        self.assertIn("apt-get install -y --no-install-recommends g++ cmake", result.stderr)
        self.assertIn("--no-remove", (self.folder / "apt-calls").read_text())

    def test_a_torch_folder_of_ones_own_must_hold_torch(self):
        result = self.run_script("torch_root", REMATCH_TORCH_ROOT=str(self.folder))
        self.assertEqual(result.returncode, 8)
        self.assertIn(str(self.folder), result.stderr)

    def test_a_download_that_breaks_off_leaves_nothing_behind(self):
        write_program(self.folder, "python3", "exit 1")
        write_program(self.folder, "timeout", "exit 1")
        cache = self.folder / "cache"
        result = self.run_script("torch_root", XDG_CACHE_HOME=str(cache))
        if "wanted pip" in result.stderr:
            self.skipTest("this machine has no pip for /usr/bin/python3")
        if result.returncode == 0:
            self.skipTest("this machine's /usr/bin/python3 has torch")
        self.assertEqual(result.returncode, 8)
        self.assertEqual([path.name for path in (cache / "rematch").iterdir()], ["lock"])
