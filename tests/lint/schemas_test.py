"""Every example document against its JSON Schema: valid* must pass, invalid-* must not. Broken schemas are found too."""
import json
import unittest

from tree import ROOT

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMAS = ROOT / "schemas" / "json"
EXAMPLES = ROOT / "schemas" / "examples"
ELSEWHERE = ("sweep",)  # YAML: tests/orchestrator/spec/sweep_schema_test.py

# Wrong in a way that a schema cannot say; the reading code refuses them.
BEYOND_SCHEMA = {
    "published/invalid-against-no-row.json": "a difference to an arm without a row",
    "published/invalid-arm-not-its-recompute.json": "an arm that is not what its recompute says",
    "published/invalid-arm-twice.json": "an arm with two rows",
    "published/invalid-bytes-not-as-published.json": "bytes that are not those of the text beside them",
    "describe/invalid-layer-kind-field.json": "a layer kind field that holds one integer",
    "describe/invalid-rule-of-no-field.json": "a rule that names no field of the family",
    "trial/invalid-collective-timeout.json": "a collective that may take as long as the run",
    "trial/invalid-interleaved-batch.json": "micro-batches that the interleaved schedule cannot take",
    "trial/invalid-sequence-does-not-divide.json": "a sequence that context parallelism cannot share out",
    "trial/invalid-layout.json": "degrees that do not divide the world",
    "trial/invalid-prediction-on-cpu.json": "assumptions of a device that has its own memory",
    "trial/invalid-batch-does-not-divide.json": "a batch that the ranks cannot share",
}


def kinds():
    return sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))


def validator(kind):
    path = SCHEMAS / f"{kind}.schema.json"
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    resolver = jsonschema.RefResolver(base_uri=path.as_uri(), referrer=schema)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


@unittest.skipIf(jsonschema is None, "python3 has no jsonschema; Debian: apt-get install python3-jsonschema")
class Schemas(unittest.TestCase):
    def test_every_example_is_accepted_or_refused_as_its_name_says(self):
        for kind in kinds():
            if kind in ELSEWHERE:
                continue
            check = validator(kind)
            for path in sorted((EXAMPLES / kind).glob("*.json")):
                name = f"{kind}/{path.name}"
                with self.subTest(example=name):
                    errors = [error.message for error in check.iter_errors(json.loads(path.read_text()))]
                    if path.name.startswith("valid") or name in BEYOND_SCHEMA:
                        self.assertEqual(errors, [])
                    else:
                        self.assertNotEqual(errors, [])

    def test_every_kind_has_valid_and_invalid_examples(self):
        for kind in kinds():
            names = [path.name for path in (EXAMPLES / kind).iterdir()]
            with self.subTest(kind=kind):
                self.assertGreaterEqual(sum(name.startswith("valid") for name in names), 1)
                self.assertGreaterEqual(sum(name.startswith("invalid-") for name in names), 3)
                self.assertEqual([name for name in names if not name.startswith(("valid", "invalid-"))], [])

    def test_every_folder_of_examples_has_a_schema(self):
        self.assertEqual(sorted(path.name for path in EXAMPLES.iterdir()), kinds())

    def test_every_published_table_is_accepted(self):
        check = validator("published")
        files = sorted((ROOT / "sweeps" / "published").glob("*.json"))
        self.assertGreaterEqual(len(files), 4)
        for path in files:
            with self.subTest(file=path.name):
                self.assertEqual([error.message for error in check.iter_errors(json.loads(path.read_text()))], [])

    def test_what_is_beyond_the_schemas_is_there(self):
        for name in BEYOND_SCHEMA:
            self.assertTrue((EXAMPLES / name).is_file(), name)
