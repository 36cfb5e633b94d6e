"""check-config, explain and labels through the real program."""
import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["REMATCH_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["REMATCH_BIN_DIR"])
CASES = ROOT / "tests" / "orchestrator" / "compat" / "megatron-config-cases.jsonl"
DEADLINE_S = 60


def rematch(*arguments, stdin=""):
    return subprocess.run([str(BIN / "rematch"), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=DEADLINE_S)


def judged(*configurations, options=()):
    result = rematch("check-config", "-f", "jsonl", *options, stdin="\n".join(json.dumps(row) for row in configurations))
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def snapshot(**config):
    return {"revision": "24bad8e", "config": config}


class CheckConfig(unittest.TestCase):
    def test_every_recorded_case_agrees_with_megatrons_class(self):
        result = rematch("check-config", CASES, "-f", "jsonl")
        self.assertEqual(result.returncode, 3, result.stderr)
        cases = [json.loads(line) for line in CASES.read_text().splitlines()]
        found = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(found), len(cases))
        for case, row in zip(cases, found):
            with self.subTest(line=row["line"], config=case["config"]):
                self.assertEqual(row["accepted"], case["accepted"], row["rules"])
                self.assertEqual(row["resolved"], case["resolved"])
                self.assertEqual(row["resolved_graph"], case["resolved_graph"])
                if case["accepted"]:
                    self.assertEqual(sorted(row["warns"]), sorted(case["warns"]))
                for rule in case["rule"] or ([case["tag"].split(":")[1]] if case["tag"] else []):
                    self.assertIn(rule, row["rules"])

    def test_the_exit_tells_whether_all_were_accepted(self):
        good, bad = snapshot(), snapshot(recompute_granularity="full")
        self.assertEqual(judged(good)[0], 0)
        self.assertEqual(judged(good, bad)[0], 3)
        self.assertEqual(rematch("check-config", "no/such/file").returncode, 2)

    def test_a_broken_line_is_named_by_line_and_column_and_the_rest_is_judged(self):
        text = '{"revision": "24bad8e", "config": {}}\n\n{"revision": "24bad8e", "config": {]}\n{"revision": "beef", "config": {}}\n' + json.dumps(snapshot())
        result = rematch("check-config", "-", stdin=text)
        self.assertEqual(result.returncode, 2)
        self.assertIn("stdin:3:36: ", result.stderr)
        self.assertIn("stdin:4:2: wanted a revision that is known, found 'beef'", result.stderr)
        self.assertIn("2 accepted, 0 refused, 2 not readable", result.stderr)
        self.assertIn("line 1 (24bad8e6): accepted", result.stdout)
        self.assertIn("line 5 (24bad8e6): accepted", result.stdout)

    def test_a_line_needs_a_revision_and_versions_that_are_versions(self):
        code, rows, err = judged({"config": {}}, {"revision": "main", "te_version": "two", "config": {}}, {"revision": "main", "config": []})
        self.assertEqual((code, len(rows)), (2, 3))
        for words in ("--core-revision", "te_version", "wanted config to be an object"):
            self.assertIn(words, err)
        self.assertEqual(judged({"config": {}}, options=("--core-revision", "0.16.1"))[1][0]["core_revision"], "0.16.1")

    def test_every_rule_is_told_at_once_and_what_is_ignored_or_rewritten_aloud(self):
        config = dict(recompute_granularity="full", cpu_offloading=True, recompute_modules=["mlp"], moe_layer_recompute=True)
        text = rematch("check-config", stdin=json.dumps(snapshot(**config))).stdout
        for words in ("refused [class] G3: ", "refused [class] G4: ", "refused [class] O2: ", "refused [class] G11: ", "ignored [class] G9: "):
            self.assertIn(words, text)
        text = rematch("check-config", stdin=json.dumps(snapshot(recompute_granularity="selective"))).stdout
        self.assertIn("rewritten [class] default_modules: ", text)
        self.assertIn('recompute_modules ["core_attn"]', text)

    def test_ours_refuses_what_megatrons_class_lets_pass(self):
        row = snapshot(recompute_granularity="selective", recompute_modules=["mlp"], recompute_method="block")
        self.assertEqual(judged(row)[0], 0)
        code, rows, _ = judged(row, options=("--policy", "ours"))
        self.assertEqual((code, rows[0]["rules"]), (3, ["G6"]))

    def test_a_configuration_that_names_its_model_has_megatrons_own_defaults(self):
        model = dict(num_layers=8, hidden_size=256, num_attention_heads=8)
        config = dict(recompute_granularity="selective", recompute_modules=["mlp"], cuda_graph_impl="local", add_bias_linear=False)
        self.assertEqual(judged(snapshot(**config))[1][0]["accepted"], True)
        row = judged(snapshot(**config, **model))[1][0]
        self.assertEqual((row["rules"], row["laid_over_plain_base"]), (["C4"], False))

    def test_json_is_one_document(self):
        document = json.loads(rematch("check-config", "--json", stdin=json.dumps(snapshot(seed=1))).stdout)
        self.assertEqual((document["schema"], document["policy"]), ("rematch/checks/1", "megatron"))
        self.assertEqual(document["checks"][0]["fields_not_read"], ["seed"])


class Pages(unittest.TestCase):
    def test_a_labels_page_has_its_file_and_its_rules(self):
        text = rematch("explain", "moe_act").stdout
        for words in ("moe_act at 24bad8e6", "output_discarding", "megatron/core/transformer/moe/experts.py", "drops", "keeps", "replays",
                      "no effect", "Q1 (refuse)", "L2 (refuse)"):
            self.assertIn(words, text)
        self.assertIn("unknown   to this revision (L1)", rematch("explain", "mhc").stdout)
        self.assertNotIn("unknown", rematch("explain", "mhc", "--core-revision", "dev").stdout)

    def test_every_label_has_a_page(self):
        labels = [line.split()[0] for revision in ("main", "dev") for line in rematch("labels", "--core-revision", revision).stdout.splitlines()[2:]]
        self.assertGreaterEqual(len(set(labels)), 12)
        for label in sorted(set(labels)):
            self.assertEqual(rematch("explain", label).returncode, 0, label)

    def test_a_rules_page_has_every_field_of_each_row(self):
        text = rematch("explain", "C12").stdout
        self.assertGreaterEqual(text.count("  effect    "), 8)
        for words in ("C12 both_names\n", "origin    class, which warns of it", "reads     cuda_graph_impl", "at        0.16.1, 24bad8e6", "reason    "):
            self.assertIn(words, text)
        self.assertEqual(rematch("explain", "C12 both_names").stdout.count("  effect    "), 1)

    def test_an_unknown_name_is_answered_with_the_nearest(self):
        result = rematch("explain", "moe_atc")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean 'moe_act'", result.stderr)
        self.assertEqual(rematch("labels", "--core-revision", "beef").returncode, 2)

    def test_labels_tell_the_sites_of_a_model_or_why_there_are_none(self):
        lines = rematch("labels", "--model", "moonlight_16b", "--trainer", BIN / "fake_trainer").stdout.splitlines()
        rows = {line.split()[0]: line for line in lines[2:]}
        self.assertRegex(rows["moe_act"], r"output_discarding +26 ")
        self.assertIn("none: ", rows["gdn_norm_out"])
        result = rematch("labels", "--model", "moonlihgt_16b", "--trainer", BIN / "fake_trainer")
        self.assertEqual(result.returncode, 2)
        self.assertIn("moonlight_16b", result.stderr)


if __name__ == "__main__":
    unittest.main()
