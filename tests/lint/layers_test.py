"""scripts/check_layers: green on the tree, red on each kind of planted breach."""
import pathlib
import subprocess
import tempfile
import unittest

from tree import ROOT

CHECK = ROOT / "scripts" / "check_layers"


def check(root):
    return subprocess.run([str(CHECK), "--root", str(root)], capture_output=True, text=True)


class CheckLayers(unittest.TestCase):
    def test_the_walls_of_this_tree_stand(self):
        result = check(ROOT)
        self.assertEqual(result.returncode, 0, result.stderr)

    def assert_red(self, source, line, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / source
            path.parent.mkdir(parents=True)
            path.write_text(f"// a planted breach\n{line}\n")
            result = check(folder)
        self.assertEqual(result.returncode, 1, f"{source}: {line} went unnoticed")
        self.assertIn(f"{source}:2:", result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_green(self, source, line):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / source
            path.parent.mkdir(parents=True)
            path.write_text(line + "\n")
            result = check(folder)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_controller_never_includes_the_trainer(self):
        self.assert_red("orchestrator/engine/loop.cpp", '#include "runtime/train/step.h"', "orchestrator/launch")

    def test_the_trainer_never_includes_the_controller(self):
        self.assert_red("runtime/train/loop.cpp", '#include "orchestrator/base/rows.h"', "runtime")

    def test_a_rule_cannot_reach_the_store(self):
        self.assert_red("orchestrator/rules/pass.cpp", '#include "orchestrator/store/store.h"', "orchestrator/stats")

    def test_nothing_includes_the_command_line(self):
        self.assert_red("orchestrator/report/model.cpp", '#include "orchestrator/cli/verb.h"', "orchestrator/rules")

    def test_sqlite_outside_the_store_is_named_with_its_home(self):
        self.assert_red("orchestrator/report/model.cpp", "#include <sqlite3.h>", "SQLite", "orchestrator/store/*.cpp")

    def test_a_heavy_header_in_a_header_is_refused(self):
        self.assert_red("orchestrator/store/store.h", "#include <sqlite3.h>", "*.cpp")
        self.assert_red("schemas/protocol/trial.h", "#include <nlohmann/json.hpp>", "*.cpp")

    def test_torch_in_the_controller_is_refused(self):
        self.assert_red("orchestrator/base/log.cpp", "#include <torch/torch.h>", "LibTorch")

    def test_an_unknown_dependency_wants_a_row_in_the_table(self):
        self.assert_red("orchestrator/base/log.cpp", "#include <absl/strings/str_cat.h>", "layers.json")

    def test_a_pure_folder_cannot_touch_the_disk(self):
        self.assert_red("orchestrator/plan/expand.cpp", "#include <filesystem>", "never uses")

    def test_a_path_that_is_not_spelled_from_the_root_is_refused(self):
        self.assert_red("orchestrator/plan/order.cpp", '#include "order.h"', "from the root")

    def test_a_file_outside_every_folder_of_the_table_is_refused(self):
        self.assert_red("schemas/sql/embed.cpp", '#include "schemas/protocol/trial.h"', "layers.json")

    def test_what_the_table_allows_passes(self):
        self.assert_green("orchestrator/engine/loop.cpp", '#include "orchestrator/launch/launcher.h"')
        self.assert_green("tests/orchestrator/plan/order_test.cpp", '#include "orchestrator/plan/order.h"')
        self.assert_green("runtime/comm/gloo.cpp", "#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>")
