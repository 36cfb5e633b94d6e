"""Out of memory on the modelled device: LibTorch's own error, placed in stage, step, phase and module, with the allocator's numbers."""
import unittest

from trainer_runs import Run, trial_document

MIB = 1 << 20
SEGMENT = 20 * MIB  # what the allocator asks the device for when a request of 1 to 10 MiB finds no cached block


class OutOfMemoryTest(unittest.TestCase):
    def setUp(self):
        self.layout = {"world_size": 1, "expert_parallel": 1, "training": {"seq_length": 1024}, "fields": {"num_moe_experts": 32}}
        self.free = Run(trial_document([], **self.layout)).require_success()

    def run_under(self, limit_bytes):
        run = Run(trial_document([], memory_limit_bytes=limit_bytes, **self.layout))
        self.assertEqual(run.exit_codes, [10])
        self.assertEqual(run.ranks[0]["bye"], [])
        return run.ranks[0]["oom"][0], run.ranks[0]

    def test_a_limit_between_the_steps_needs_fails_in_the_second_step(self):
        first, second = (max(phase["peak_reserved_bytes"] for phase in step["phases"].values()) for step in self.free.ranks[0]["step"][:2])
        self.assertLess(first, second, "without moments the first step needs less")
        oom, rank = self.run_under(second - 2 * MIB)
        self.assertEqual((oom["stage"], oom["step"], len(rank["step"])), ("steady", 1, 1))
        self.assertIn(oom["phase"], ("forward", "backward"))
        self.check_numbers(oom, second - 2 * MIB)

    def test_a_limit_under_the_first_forward_fails_there_and_names_the_module(self):
        built = self.free.ranks[0]["model"][0]["phases"]["build"]["peak_reserved_bytes"]
        oom, rank = self.run_under(built + 2 * MIB)
        self.assertEqual((oom["stage"], oom["step"], oom["phase"], rank["step"]), ("first_forward", 0, "forward", []))
        self.assertRegex(oom["scope"], r"^(layers\.\d|output_layer)")
        self.check_numbers(oom, built + 2 * MIB)

    def test_a_limit_under_the_parameters_fails_in_build(self):
        oom, rank = self.run_under(MIB)
        self.assertEqual((oom["stage"], oom["step"], oom["phase"]), ("built", None, "build"))
        self.assertEqual(rank["model"], [])

    def check_numbers(self, oom, limit_bytes):
        self.assertEqual(oom["capacity_bytes"], limit_bytes)
        self.assertGreater(oom["requested_bytes"], 0)
        self.assertLessEqual(oom["allocated_bytes"], oom["reserved_bytes"])
        self.assertLessEqual(oom["reserved_bytes"], limit_bytes)
        self.assertGreater(oom["reserved_bytes"] + max(oom["requested_bytes"], SEGMENT), limit_bytes)
        self.assertIn("out of memory", oom["message"])


class BadTrialTest(unittest.TestCase):
    def test_a_trial_for_another_build_is_refused_with_both_names(self):
        document = trial_document([], world_size=1, expert_parallel=1)
        document["trainer_build_id"] = "f" * 40
        run = Run(document)
        self.assertEqual(run.exit_codes, [13])
        self.assertIn("f" * 40, run.logs[0])

    def test_a_layout_this_trainer_has_not_is_refused(self):
        document = trial_document([], world_size=2, expert_parallel=1)
        document["parallel"]["tensor_model_parallel_size"] = 2
        self.assertEqual(Run(document).exit_codes, [13, 13])


class MetaDeviceTest(unittest.TestCase):
    def test_shapes_alone_give_the_peaks_of_the_cpu_to_the_byte_where_routing_is_alike(self):
        layout = {"world_size": 1, "expert_parallel": 1, "fields": {"moe_layer_freq": [0, 0, 0]}}
        for modules in ([], ["mla_up_proj"], ["layernorm", "mlp"]):
            runs = [Run(trial_document(modules, device=device, **layout)).require_success() for device in ("cpu", "meta")]
            cpu, meta = ([{name: phase["peak_allocated_bytes"] for name, phase in step["phases"].items()} for step in run.ranks[0]["step"]]
                         for run in runs)
            self.assertEqual(cpu, meta)
            self.assertEqual(runs[1].ranks[0]["hello"][0]["provenance"], "predicted")


if __name__ == "__main__":
    unittest.main()
