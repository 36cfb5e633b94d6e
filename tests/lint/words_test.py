"""The tree works on any machine: it names no package registry's host and no path of one machine."""
import re
import unittest

from tree import read_text, tree_files

# Spelled in pieces, so that this file passes its own test.
REGISTRY_HOSTS = ["py" + "pi.org", "pythonhosted" + ".org", "deb.debian" + ".org", "registry.npmjs" + ".org", "download.pytorch" + ".org",
                  "conda.anaconda" + ".org", "security.debian" + ".org", "developer.download.nvidia" + ".com"]
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work" + r"|root" + r"|home/\w+)/")


def lines_with(pattern):
    for name in tree_files():
        for number, line in enumerate(read_text(name).splitlines(), start=1):
            if pattern.search(line):
                yield f"{name}:{number}: {line.strip()[:120]}"


class Words(unittest.TestCase):
    def test_no_file_names_a_registry(self):
        self.assertEqual(list(lines_with(re.compile("|".join(map(re.escape, REGISTRY_HOSTS))))), [])

    def test_no_file_names_a_path_of_one_machine(self):
        self.assertEqual(list(lines_with(MACHINE_PATHS)), [])

    def test_the_patterns_find_what_they_are_for(self):
        self.assertTrue(MACHINE_PATHS.search("cd /wo" + "rk/main"))
        self.assertTrue(MACHINE_PATHS.search('"/ro' + 'ot/.cache"'))
        self.assertFalse(MACHINE_PATHS.search("build/work/main"))
