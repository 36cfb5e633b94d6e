"""`run --simulate` and `plan --predict` with the real trainer: each distinct rank once on the meta device, full size, and what is said of it."""
import json
import pathlib
import unittest

from workspace import ROOT, TINY_SWEEP, Workspace, records

FOR_CUDA = TINY_SWEEP.replace("device: cpu", "device: cuda")
PUBLISHED = sorted((ROOT / "sweeps" / "published").glob("*.yaml"))


class TinyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.sweep = cls.workspace.write_sweep(FOR_CUDA)
        cls.result = cls.workspace.rematch("run", "--simulate", cls.sweep)

    def test_a_sweep_for_a_gpu_is_predicted_where_there_is_none(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        self.assertEqual(self.workspace.rematch("run", self.sweep).returncode, 3, "this trainer has no cuda")

    def test_meta_without_a_simulation_is_refused_at_its_place(self):
        for verb in ("plan", "run"):
            result = self.workspace.rematch(verb, self.sweep, "--set", "backend.device=meta")
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn("--set backend.device=meta: backend.device: meta only predicts: use --simulate", result.stderr)
        self.assertEqual(self.workspace.rematch("plan", "--simulate", self.sweep, "--set", "backend.device=meta").returncode, 0)

    def test_only_cuda_is_a_device_that_a_simulation_could_stand_in_for(self):
        hint = "--simulate predicts the sweep here"
        self.assertIn(hint, self.workspace.rematch("run", self.sweep).stderr)
        for arguments in (("run",), ("plan", "--simulate"), ("plan", "--predict")):
            result = self.workspace.rematch(*arguments, self.sweep, "--set", "backend.device=gpu")
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn("--set backend.device=gpu: backend.device: 'gpu' is not a device", result.stderr)
            self.assertNotIn(hint, result.stderr)

    def test_the_control_runs_once_and_of_ranks_that_are_alike_one(self):
        self.assertEqual(self.workspace.rows("SELECT arm, count(*) FROM trial GROUP BY arm ORDER BY arm"),
                         [("[]", 1), ("moe", 1), ("moe_act", 1)])
        self.assertEqual([path.name for path in self.workspace.files("*.jsonl")], ["rank-00000.jsonl"] * 3)
        self.assertEqual(self.workspace.rows("SELECT DISTINCT world_size FROM attempt"), [(2,)])

    def test_every_record_says_that_it_is_predicted(self):
        self.assertEqual(self.workspace.rows("SELECT DISTINCT provenance FROM rank"), [("predicted",)])

    def test_no_time_of_the_meta_device_is_given(self):
        report = self.workspace.report()
        arms = next(table for table in report["tables"] if table["key"] == "arms")["rows"]
        for row in arms:
            self.assertEqual(row["outcome"], "predicted pass")
            self.assertNotIn("step_time_ns", row)
            self.assertIn("estimated_step_time_ns", row)
            self.assertEqual(row["fragmentation_bytes"], row["peak_reserved_bytes"] - row["peak_allocated_bytes"])
        self.assertEqual(self.workspace.rows("SELECT count(*) FROM verdict WHERE step_time_ns IS NOT NULL"), [(0,)])

    def test_words_are_of_a_prediction(self):
        report = self.workspace.report()
        self.assertIn("predicted", report["answer"]["reason"])
        self.assertTrue(report["notes"][0].startswith("[predicted] Predicted, not measured"))
        self.assertNotRegex(" ".join(report["notes"]) + report["answer"]["reason"], r"\bpass(es|ed)\b")

    def test_the_assumptions_have_origins(self):
        rows = next(table for table in self.workspace.report()["tables"] if table["key"] == "assumptions")["rows"]
        origins = {row["assumption"]: row["origin"] for row in rows}
        self.assertRegex(origins["attention"], r"sweep\.yaml:\d+:\d+")
        self.assertIn("device table, H100-80GB", origins["device memory"])
        self.assertNotIn(None, origins.values())

    def test_a_second_run_starts_nothing_and_prints_the_same(self):
        before = self.workspace.files("trial.json")
        again = self.workspace.rematch("run", "--simulate", self.sweep)
        self.assertEqual((again.returncode, again.stdout), (self.result.returncode, self.result.stdout))
        self.assertEqual(self.workspace.files("trial.json"), before)

    def test_status_says_that_the_study_is_predicted(self):
        status = json.loads(self.workspace.rematch("status", "--json").stdout)
        self.assertEqual([study["provenance"] for study in status["studies"]], ["predicted"])
        self.assertRegex(self.workspace.rematch("status").stdout, r"\n\S+ +\S+ +predicted +3 +3 ")

    def test_a_limit_above_what_the_device_leaves_is_warned_of(self):
        own = Workspace(self)
        sweep = own.write_sweep(TINY_SWEEP)
        for arguments in (("plan", "--simulate"), ("plan", "--predict")):
            result = own.rematch(*arguments, sweep, "--set", "backend.memory_limit=90GB")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("warning [limit-above-device]: --set backend.memory_limit=90GB: backend.memory_limit: "), 1, result.stderr)

    def test_ingest_gives_the_same_rows(self):
        before = self.workspace.dump()
        (self.workspace.root / "rematch.db").unlink()
        self.assertEqual(self.workspace.rematch("ingest").returncode, 0)
        self.assertEqual(self.workspace.dump(), before)


class PipelineTest(unittest.TestCase):
    """Eight ranks in four stages, one of which cannot hold its share: every distinct rank says how far it gets."""

    LAYOUT = ("--set", "parallel.world_size=8", "--set", "parallel.pipeline_model_parallel_size=4", "--set",
              "training.global_batch_size=8", "--set", "model.num_layers=8", "--set", "model.moe_layer_freq=0,1,1,1,1,1,1,1")

    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.sweep = cls.workspace.write_sweep(FOR_CUDA)

    def simulate(self, *more):
        return self.workspace.rematch("run", "--simulate", self.sweep, *self.LAYOUT, *more)

    def test_each_stage_is_run_once_with_its_true_rank(self):
        result = self.simulate()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 of 8 ranks stand for all", result.stdout)
        for path in self.workspace.files("launch.json"):
            ranks = [rank["rank"] for rank in json.loads(path.read_text())["ranks"]]
            self.assertEqual(ranks, [0, 2, 4, 6])
            for rank in ranks:
                hello = records(path.parent / f"rank-{rank:05}.jsonl")[0]
                self.assertEqual((hello["rank"], hello["world_size"]), (rank, 8))

    def test_a_capacity_between_the_stages_peaks_fails_where_it_binds(self):
        peaks = {}
        self.assertEqual(self.simulate().returncode, 0)
        for path in self.workspace.files("rank-*.jsonl"):
            if self.workspace.trial_of(path)["arm"] == "[]" and records(path)[-1]["t"] == "bye":
                peaks[int(path.stem[5:])] = records(path)[-1]["lifetime_peak_reserved_bytes"]
        self.assertEqual(set(peaks), {0, 2, 4, 6})
        hot = max(peaks, key=peaks.get)
        tight = Workspace(self)
        result = tight.rematch("run", "--simulate", tight.write_sweep(FOR_CUDA), *self.LAYOUT, "--set",
                               f"backend.memory_limit={peaks[hot] - 1}B")
        self.assertIn(result.returncode, (0, 5), result.stderr)
        kind, stage, step, phase, rank, requested = tight.rows(
            "SELECT kind, stage, step, phase, rank, requested_bytes FROM failures WHERE arm = '[]'")[0]
        self.assertEqual((kind, peaks[rank]), ("oom", peaks[hot]), "a rank that needs the most")
        self.assertNotIn(None, (stage, step, phase, requested))
        exits = json.loads(next(path for path in tight.files("launch.json") if tight.trial_of(path)["arm"] == "[]").read_text())["ranks"]
        wanted = {each: 10 if peaks[each] == peaks[hot] else 0 for each in peaks}
        self.assertIn(0, wanted.values(), "one that fits, or nothing is shown")
        self.assertEqual({each["rank"]: each["exit_code"] for each in exits}, wanted)
        self.assertIn(f"rank {rank} (and 1 alike)", tight.rematch("plan", "--predict", tight.folder / "sweep.yaml", *self.LAYOUT, "--set",
                                                               f"backend.memory_limit={peaks[hot] - 1}B").stdout)


class PredictTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace(cls)
        cls.sweep = cls.workspace.write_sweep(TINY_SWEEP)

    def plan(self, *arguments):
        result = self.workspace.rematch("plan", self.sweep, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_plan_says_of_each_arm_what_it_is_predicted_to_take_and_leaves_none_out(self):
        plain = json.loads(self.plan("--json").stdout)
        self.assertIsNone(plain["prediction"])
        predicted = json.loads(self.plan("--json", "--predict").stdout)
        self.assertEqual(predicted["study"], plain["study"])
        arms = predicted["prediction"]["arms"]
        self.assertEqual(set(arms), {"[]", "moe_act", "moe"})
        for arm in arms.values():
            self.assertTrue(arm["fits"])
            self.assertLess(arm["peak_allocated_bytes"], predicted["prediction"]["capacity_bytes"])
        self.assertLess(arms["moe"]["peak_allocated_bytes"], arms["[]"]["peak_allocated_bytes"])
        text = self.plan("--predict").stdout
        self.assertEqual(text.count("predicted to fit"), 3, text)

    def test_a_second_prediction_prints_the_same(self):
        fresh = Workspace(self)
        sweep = fresh.write_sweep(FOR_CUDA)
        first, second = (fresh.rematch("plan", "--predict", sweep) for _ in range(2))
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        self.assertRegex(first.stdout, r"upper bounds from the control of study \S+ \(predicted\), trial")

    def test_what_is_done_is_not_run_again(self):
        self.plan("--predict")
        before = self.workspace.files("trial.json")
        self.assertEqual(self.plan("--predict").stderr.count("all ranks ended well"), 0)
        self.assertEqual(self.workspace.files("trial.json"), before)
        self.assertEqual(self.workspace.rematch("run", "--simulate", self.sweep).returncode, 0)
        self.assertEqual(self.workspace.files("trial.json"), before)

    def test_an_arm_that_will_not_fit_is_placed_and_stays_in_the_plan(self):
        tight = Workspace(self)
        limit = ("--set", "backend.memory_limit=2MiB", "--set", "simulate.workspace=0B")
        result = tight.rematch("plan", "--predict", "--json", tight.write_sweep(TINY_SWEEP), *limit)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        for arm in document["prediction"]["arms"].values():
            self.assertIs(arm["fits"], False)
            self.assertIsNone(arm["peak_allocated_bytes"])
            self.assertNotIn(None, (arm["failure"]["stage"], arm["failure"]["rank"], arm["failure"]["requested_bytes"]))
        self.assertEqual({arm["status"] for arm in document["study"]["arms"]}, {"planned"})
        text = tight.rematch("plan", "--predict", tight.folder / "sweep.yaml", *limit).stdout
        self.assertEqual(text.count("will not fit: "), 3, text)

    def test_bad_assumptions_are_refused_at_their_place(self):
        bad = self.workspace.write_sweep(TINY_SWEEP + "simulate: {expert_load: forced}\n", "bad.yaml")
        for arguments in (("plan", "--simulate"), ("run", "--simulate"), ("plan", "--predict")):
            result = self.workspace.rematch(*arguments, bad)
            self.assertEqual(result.returncode, 3)
            self.assertRegex(result.stderr, r"bad\.yaml:\d+:\d+: simulate\.expert_load: forced wants")


class PublishedTest(unittest.TestCase):
    def test_every_published_sweep_is_planned_for_its_simulation(self):
        workspace = Workspace(self)
        self.assertGreaterEqual(len(PUBLISHED), 5)
        for sweep in PUBLISHED:
            result = workspace.rematch("plan", "--simulate", "--json", sweep)
            self.assertEqual(result.returncode, 0, f"{sweep.name}: {result.stderr}")
            study = json.loads(result.stdout)["study"]
            self.assertEqual(study["name"], pathlib.Path(sweep).stem)
            for trial in study["trials"]:
                self.assertEqual(trial["backend"]["device"], "meta")
                self.assertEqual(trial["prediction"]["device"], "H100-80GB")
            self.assertEqual(sum(trial["is_control"] for trial in study["trials"]), 1)

    def test_what_no_label_can_help_is_diagnosed_as_optimizer_bound(self):
        workspace = Workspace(self)
        result = workspace.rematch("run", "--simulate", "sweeps/published/nemotron_3_nano_8xh100.yaml", "-f", "json")
        self.assertEqual(result.returncode, 5, result.stderr)
        report = json.loads(result.stdout)
        diagnoses = next(table["rows"] for table in report["tables"] if table["key"] == "diagnoses")
        note = next(row["finding"] for row in diagnoses if row["symptom"] == "optimizer-bound")
        self.assertIn("Every arm is predicted to run out of memory", note)
        self.assertIn("rank 0 (and 7 alike)", note)
        stages = {row["failure_stage"] for table in report["tables"] if table["key"] == "arms" for row in table["rows"]}
        self.assertEqual(stages, {"optimizer_init"})
        requested, capacity = workspace.rows("SELECT requested_bytes, capacity_bytes FROM failures WHERE arm = '[]'")[0]
        self.assertIn(f"room for {requested / 1e6:.3f} MB more", note)
        self.assertIn(f"capacity of {capacity / 1e9:.3f} GB", note)

