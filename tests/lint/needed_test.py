"""The wall between the two programs, read off the programs themselves: their direct NEEDED entries."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

BIN = pathlib.Path(os.environ.get("REMATCH_BIN_DIR", "build/release/bin"))


def needed(program):
    listing = subprocess.run(["readelf", "-d", str(program)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", listing)


@unittest.skipUnless(shutil.which("readelf"), "readelf is not installed (Debian package binutils)")
class Needed(unittest.TestCase):
    def needed_of(self, name):
        if not (BIN / name).is_file():
            self.skipTest(f"{BIN / name} is not built in this configuration")
        libraries = needed(BIN / name)
        self.assertTrue(any(library.startswith("libstdc++") for library in libraries), f"cannot be the whole list: {libraries}")
        return libraries

    def assert_none(self, libraries, pattern):
        self.assertEqual([library for library in libraries if re.match(pattern, library)], [])

    def test_the_controller_is_not_linked_to_torch(self):
        libraries = self.needed_of("rematch")
        self.assert_none(libraries, r"libtorch|libc10|libcud|libnccl|libgloo")
        self.assertTrue(any("sqlite3" in library for library in libraries), f"the controller's database is missing: {libraries}")

    def test_the_trainer_is_not_linked_to_what_the_controller_uses(self):
        libraries = self.needed_of("rematch-train")
        self.assert_none(libraries, r"libsqlite|libboost|libyaml|libspdlog|libfmt|libgloo")
        self.assertTrue(any("torch_cpu" in library for library in libraries), f"LibTorch is missing: {libraries}")
