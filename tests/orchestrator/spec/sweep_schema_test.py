"""Every example sweep and every file in sweeps/ against the published JSON schema."""
import json
import os
import pathlib
import unittest

try:
    import jsonschema
    import yaml
    MISSING = None
except ImportError as error:
    MISSING = f"wanted python3-jsonschema and python3-yaml: {error}"

ROOT = pathlib.Path(os.environ["REMATCH_SOURCE_DIR"])


@unittest.skipIf(MISSING, MISSING)
class SweepSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        schema = json.loads((ROOT / "schemas/json/sweep.schema.json").read_text(encoding="utf-8"))
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        cls.validator = validator(schema)

    def problems(self, path):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [f"{path.name}: {'.'.join(map(str, error.absolute_path))}: {error.message}" for error in self.validator.iter_errors(document)]

    def test_accepts_every_sample_sweep_and_valid_example(self):
        files = sorted([*(ROOT / "sweeps").glob("**/*.yaml"), *(ROOT / "schemas/examples/sweep").glob("valid*.yaml")])
        self.assertGreaterEqual(len(files), 4)
        for path in files:
            with self.subTest(path=path.name):
                self.assertEqual(self.problems(path), [])

    def test_refuses_every_invalid_example(self):
        files = sorted((ROOT / "schemas/examples/sweep").glob("invalid*.yaml"))
        self.assertGreaterEqual(len(files), 4)
        for path in files:
            with self.subTest(path=path.name):
                self.assertNotEqual(self.problems(path), [])


if __name__ == "__main__":
    unittest.main()
