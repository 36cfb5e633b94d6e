"""Expert parallelism, expert tensor parallelism and both: the losses of one rank, recompute to the bit, and what a replay communicates."""
import unittest

from trainer_runs import Run, trial_document

BF16, FP32, INT64 = 2, 4, 8
STEPS = 5
# Ranks, expert parallel, expert tensor parallel.
LAYOUTS = {"etp 2": (2, 1, 2), "ep 2, etp 2": (4, 2, 2), "ep 2, expert-dp 2": (4, 2, 1)}
PRESETS = ["moonlight_tiny", "nemotron_3_nano_tiny", "qwen3_next_tiny"]
# bf16 has 8 bits: results that are partial sums on two ranks, or gradients that are sums over ranks, are rounded once more or in another order
# (2^-9 relative each). Five steps of lr 1e-3 carry that into the losses, where it averages out over the tokens.
LOSS_TOLERANCE = 0.002
GLOBAL_BATCH = 4
ARMS = [["moe"], ["moe_act"], ["moe", "moe_act"]]


def document(preset, layout, modules=(), **more):
    world_size, expert, expert_tensor = layout
    return trial_document(list(modules), preset=preset, world_size=world_size, expert_parallel=expert,
                          training={"seq_length": 48, "global_batch_size": GLOBAL_BATCH, "train_iters": STEPS},
                          parallel={"expert_tensor_parallel_size": expert_tensor}, **more)


def full_document(preset, layout):
    arm = document(preset, layout, granularity="full", recompute={"recompute_method": "uniform", "recompute_num_layers": 2})
    arm["recompute"]["recompute_modules"], arm["is_control"] = None, False
    return arm


def steps(run, key):
    return [[step[key] for step in rank["step"]] for rank in run.ranks]


def counted(step, **wanted):
    """Calls and bytes of a step where axis, pass and operation are as wanted."""
    found = [count for count in step["communication"] if all(count[key] == value for key, value in wanted.items())]
    return sum(count["num_calls"] for count in found), sum(count["bytes"] for count in found)


class ExpertParallelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.controls = {(preset, name): Run(document(preset, layout)).require_success() for preset in PRESETS for name, layout in LAYOUTS.items()}

    def each(self):
        for (preset, name), control in self.controls.items():
            with self.subTest(preset=preset, layout=name):
                yield preset, LAYOUTS[name], control

    def test_losses_are_those_of_one_rank(self):
        for preset in PRESETS:
            alone = Run(document(preset, (1, 1, 1))).require_success().ranks[0]["step"]
            self.assertLess(alone[-1]["loss"], alone[0]["loss"])
            for name in LAYOUTS:
                for rank in self.controls[preset, name].ranks:
                    for ours, theirs in zip(rank["step"], alone, strict=True):
                        with self.subTest(preset=preset, layout=name, step=ours["step"]):
                            self.assertAlmostEqual(ours["loss"] / theirs["loss"], 1, delta=LOSS_TOLERANCE)
                            self.assertEqual(ours["aux_losses"].keys(), theirs["aux_losses"].keys())

    def test_the_first_steps_balancing_loss_is_that_of_one_rank(self):
        # Before the first update scores differ by the rounding of the layers before; sums of probabilities and counts hardly.
        for preset in PRESETS:
            alone = Run(document(preset, (1, 1, 1))).require_success().ranks[0]["step"][0]["aux_losses"]
            for name in LAYOUTS:
                for key, loss in self.controls[preset, name].ranks[0]["step"][0]["aux_losses"].items():
                    if key != "global_load_balancing_loss":  # whose counts run over what a layout has in one micro-batch
                        self.assertAlmostEqual(loss / alone[key], 1, delta=LOSS_TOLERANCE, msg=(preset, name, key))

    def test_routing_is_uneven_and_ranks_that_share_experts_compute_on_the_same_rows(self):
        for _preset, (world_size, expert, expert_tensor), control in self.each():
            received = [step[0] for step in steps(control, "tokens_received")]
            for rank in range(world_size):
                self.assertEqual(received[rank], received[rank // expert_tensor * expert_tensor])
            if expert > 1:
                self.assertNotEqual(received[0], received[expert_tensor])

    def test_every_arm_equals_its_control_to_the_bit(self):
        for preset, layout, control in self.each():
            arms = [document(preset, layout, modules) for modules in ARMS] + [full_document(preset, layout)]
            for arm_document in arms:
                with self.subTest(arm=arm_document["arm"], granularity=arm_document["recompute"]["recompute_granularity"]):
                    arm = Run(arm_document).require_success()
                    for key in ("loss_bits", "grad_norm", "aux_losses", "tokens_received"):
                        self.assertEqual(steps(arm, key), steps(control, key), key)
                    self.assertTrue(all(control.gradients))
                    self.assertEqual(arm.gradients, control.gradients)

    def test_a_replay_of_moe_dispatches_and_combines_again_and_one_of_moe_act_communicates_nothing(self):
        for preset, layout, control in self.each():
            _, expert, expert_tensor = layout
            moe = Run(document(preset, layout, ["moe"])).require_success()
            moe_act = Run(document(preset, layout, ["moe_act"])).require_success()
            fields = document(preset, layout)["model"]["fields"]
            for rank, (ours, act, plain) in enumerate(zip(moe.ranks, moe_act.ranks, control.ranks, strict=True)):
                for step, act_step, control_step in zip(ours["step"], act["step"], plain["step"], strict=True):
                    self.assertEqual(counted(control_step, **{"pass": "replay"}), (0, 0))
                    self.assertEqual(counted(act_step, **{"pass": "replay"}), (0, 0))
                    for pass_name in ("forward", "backward", "update"):
                        self.assertEqual(self.without_time(step, pass_name), self.without_time(control_step, pass_name))
                    self.check_replay(step, rank, layout, fields, moe)

    def check_replay(self, step, rank, layout, fields, run):
        """Counts, probabilities and tokens to the experts, tokens back, in each MoE layer, of the last of the step's micro-batches."""
        world_size, expert, expert_tensor = layout
        num_micro_batches, tokens = GLOBAL_BATCH // world_size, 48
        choices = tokens * fields["moe_router_topk"]
        width = fields["hidden_size"] * BF16
        num_layers = len(step["tokens_received"])
        self.assertGreater(num_layers, 0)
        sent_there = num_layers * num_micro_batches
        if expert > 1:
            calls, num_bytes = counted(step, axis="ep", operation="all_to_all", **{"pass": "replay"})
            self.assertEqual(calls, 4 * sent_there)
            if num_micro_batches == 1 and expert_tensor == 1:
                rows_back = sum(step["tokens_received"])
                there = num_layers * (choices * (width + FP32) + fields["num_moe_experts"] * INT64)
                self.assertEqual(num_bytes, there + rows_back * width)
        if expert_tensor > 1:
            gathers, gathered = counted(step, axis="expt_tp", operation="all_gather", **{"pass": "replay"})
            scatters, scattered = counted(step, axis="expt_tp", operation="reduce_scatter", **{"pass": "replay"})
            self.assertEqual((gathers, scatters), (3 * sent_there, sent_there))
            if num_micro_batches == 1:
                rows = sum(step["tokens_received"])
                counts = num_layers * expert_tensor * fields["num_moe_experts"] * INT64  # of all peers, for the local experts
                self.assertEqual((gathered, scattered), (rows * (width + FP32) + counts, rows * width))
        everything = counted(step, **{"pass": "replay"})[0]
        self.assertEqual(everything, sent_there * (4 * (expert > 1) + 4 * (expert_tensor > 1)))

    @staticmethod
    def without_time(step, pass_name):
        return [{key: value for key, value in count.items() if key != "duration_ns"} for count in step["communication"] if count["pass"] == pass_name]


class PartsOfExpertsTest(unittest.TestCase):
    def test_a_width_that_does_not_divide_is_refused(self):
        run = Run(document("moonlight_tiny", LAYOUTS["etp 2"], fields={"moe_ffn_hidden_size": 25}))
        self.assertTrue(all(run.exit_codes))
        self.assertIn("moe_ffn_hidden_size: wanted a multiple of expert_tensor_parallel_size (2), found 25", run.logs[0])

    def test_forced_balancing_stays_even(self):
        for layout in LAYOUTS.values():
            run = Run(document("moonlight_tiny", layout, fields={"moe_router_force_load_balancing": True})).require_success()
            for rank in run.ranks:
                for step in rank["step"]:
                    self.assertEqual(len(set(step["tokens_received"])), 1)
            self.assertEqual(run.ranks[0]["step"][0]["tokens_received"], run.ranks[-1]["step"][0]["tokens_received"])

    def test_meta_issues_the_same_collectives(self):
        calls = lambda run: [(count["axis"], count["pass"], count["operation"], count["num_calls"]) for count in run.ranks[0]["step"][0]["communication"]
                             if count["axis"] in ("ep", "expt_tp", "expt_dp")]
        for layout in LAYOUTS.values():
            cpu, meta = (Run(document("moonlight_tiny", layout, ["moe"], device=device)).require_success() for device in ("cpu", "meta"))
            self.assertTrue(calls(cpu))
            self.assertEqual(calls(meta), calls(cpu))


if __name__ == "__main__":
    unittest.main()
