"""Runs one unittest file for CTest: exit 0 passed, 1 failed, 77 when every test in it was skipped. Each skip is printed with its reason."""
import importlib.util
import pathlib
import sys
import unittest


def load(path):
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main():
    suite = load(pathlib.Path(sys.argv[1]).resolve())
    if not suite.countTestCases():
        sys.exit(f"{sys.argv[1]} holds no test")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    if not result.wasSuccessful():
        return 1
    return 77 if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
