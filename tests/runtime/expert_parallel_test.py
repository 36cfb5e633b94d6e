"""Expert tensor parallelism, alone and with expert parallelism: the contract of parallel training; which rows a rank computes on; and what a mixture
of experts communicates, in a forward and in a replay, by the formulas of reports/METRICS.md."""
import unittest

from parallel_contract_test import GDN, HYBRID, MLA, Layout, axis
from trainer_runs import Run, run_batch, trial_document

BF16, FP32, INT64 = 2, 4, 8
SEQUENCE = 48
LAYOUTS = {"ep 2": (2, axis(ep=2)), "etp 2": (2, axis(etp=2)), "ep 2, etp 2": (4, axis(ep=2, etp=2)), "ep 2, expert-dp 2": (4, axis(ep=2))}
PRESETS = [MLA, HYBRID, GDN]
LIMIT_S = 120


class ExpertTensorParallelTest(Layout, unittest.TestCase):
    parallel = axis(etp=2)
    presets = PRESETS


class ExpertAndExpertTensorParallelTest(Layout, unittest.TestCase):
    world_size = 4
    parallel = axis(ep=2, etp=2)
    presets = PRESETS


def document(preset, layout, modules=(), **more):
    """One micro-batch a rank and step."""
    world_size, degrees = LAYOUTS[layout]
    return trial_document(list(modules), preset=preset, world_size=world_size, expert_parallel=1, parallel=degrees,
                          training={"seq_length": SEQUENCE, "train_iters": 2}, **more)


def counted(step, **wanted):
    """Calls and bytes of a step where axis, pass and operation are as wanted."""
    found = [count for count in step["communication"] if all(count[key] == value for key, value in wanted.items())]
    return sum(count["num_calls"] for count in found), sum(count["bytes"] for count in found)


def without_time(step, pass_name):
    return [{key: value for key, value in count.items() if key != "duration_ns"} for count in step["communication"] if count["pass"] == pass_name]


class ExpertCommunicationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = {}
        for layout in LAYOUTS:
            arms = [(preset, arm) for preset in PRESETS for arm in ("[]", "moe", "moe_act")]
            documents = [document(preset, layout, [] if arm == "[]" else [arm]) for preset, arm in arms]
            for (preset, arm), records in zip(arms, run_batch(documents, limit_s=LIMIT_S), strict=True):
                cls.runs[layout, preset, arm] = records

    def each_step(self, arm):
        for (layout, preset, name), run in self.runs.items():
            if name == arm:
                for rank, records in enumerate(run.ranks):
                    for step in records["step"]:
                        with self.subTest(layout=layout, preset=preset, rank=rank, step=step["step"]):
                            yield layout, preset, rank, step

    def test_ranks_that_share_experts_compute_on_the_same_rows_and_loads_are_uneven(self):
        for (layout, preset, _), run in self.runs.items():
            world_size, degrees = LAYOUTS[layout]
            expert_tensor = degrees.get("expert_tensor_parallel_size", 1)
            received = [rank["step"][0]["tokens_received"] for rank in run.ranks]
            with self.subTest(layout=layout, preset=preset):
                for rank in range(world_size):
                    self.assertEqual(received[rank], received[rank // expert_tensor * expert_tensor])
                if "expert_model_parallel_size" in degrees:
                    self.assertNotEqual(received[0], received[expert_tensor])
                fields = document(preset, layout)["model"]["fields"]
                choices = SEQUENCE * fields["moe_router_topk"] * world_size * len(received[0])
                self.assertEqual(sum(map(sum, received)), choices * expert_tensor)

    def test_a_replay_of_moe_dispatches_and_combines_again(self):
        for layout, preset, _, step in self.each_step("moe"):
            self.check_forward_of_experts(step, "replay", layout, preset)

    def test_a_forward_dispatches_and_combines_too(self):
        for arm in ("[]", "moe", "moe_act"):
            for layout, preset, _, step in self.each_step(arm):
                self.check_forward_of_experts(step, "forward", layout, preset)

    def test_nothing_but_moe_replays_communication_and_it_changes_no_other_pass(self):
        for (layout, preset, arm), run in self.runs.items():
            for rank, control_rank in zip(run.ranks, self.runs[layout, preset, "[]"].ranks, strict=True):
                for step, control_step in zip(rank["step"], control_rank["step"], strict=True):
                    with self.subTest(layout=layout, preset=preset, arm=arm):
                        self.assertEqual(counted(step, **{"pass": "replay"})[0] > 0, arm == "moe")
                        for pass_name in ("forward", "backward", "update"):
                            self.assertEqual(without_time(step, pass_name), without_time(control_step, pass_name))

    def check_forward_of_experts(self, step, pass_name, layout, preset):
        degrees, fields = LAYOUTS[layout][1], document(preset, layout)["model"]["fields"]
        expert, expert_tensor = degrees.get("expert_model_parallel_size", 1), degrees.get("expert_tensor_parallel_size", 1)
        width, num_experts = fields["hidden_size"] * BF16, fields["num_moe_experts"]
        num_layers, rows = len(step["tokens_received"]), sum(step["tokens_received"])
        choices = num_layers * SEQUENCE * fields["moe_router_topk"]
        of = lambda axis_name, operation: counted(step, axis=axis_name, operation=operation, **{"pass": pass_name})
        calls, num_bytes = of("ep", "all_to_all")
        self.assertEqual(calls, 4 * num_layers if expert > 1 else 0)  # row counts, probabilities, tokens, and tokens back
        if expert > 1 and expert_tensor == 1:
            self.assertEqual(num_bytes, num_layers * num_experts * INT64 + choices * (FP32 + width) + rows * width)
        gathers, scatters = of("expt_tp", "all_gather"), of("expt_tp", "reduce_scatter")
        if expert_tensor == 1:
            self.assertEqual((gathers, scatters), ((0, 0), (0, 0)))
        else:
            counts = num_layers * num_experts * expert_tensor * INT64
            self.assertEqual(gathers, (3 * num_layers, counts + rows * (FP32 + width)))
            self.assertEqual(scatters, (num_layers, rows * width))
        if pass_name == "replay":
            self.assertEqual(counted(step, **{"pass": "replay"})[0], calls + gathers[0] + scatters[0])

    def test_what_ranks_send_each_other_over_ep_adds_up(self):
        # Where experts are in parts, a rank's record does not say how many rows came over ep; over all ranks they are all rows that were sent.
        layout = "ep 2, etp 2"
        for preset in PRESETS:
            for step in range(2):
                steps = [rank["step"][step] for rank in self.runs[layout, preset, "moe"].ranks]
                fields, num_layers = document(preset, layout)["model"]["fields"], len(steps[0]["tokens_received"])
                sent = num_layers * 4 * SEQUENCE * fields["moe_router_topk"]
                counts = num_layers * 4 * fields["num_moe_experts"] * INT64
                wanted = counts + sent * (FP32 + 2 * fields["hidden_size"] * BF16)
                found = sum(counted(step, axis="ep", operation="all_to_all", **{"pass": "replay"})[1] for step in steps)
                self.assertEqual(found, wanted)


class PartsOfExpertsTest(unittest.TestCase):
    def test_a_width_that_does_not_divide_is_refused(self):
        run = Run(document(MLA, "etp 2", fields={"moe_ffn_hidden_size": 25}))
        self.assertTrue(all(run.exit_codes))
        # A rank may hear of the other's refusal before it comes to its own.
        self.assertIn("moe_ffn_hidden_size: wanted a multiple of expert_tensor_parallel_size (2), found 25", "\n".join(run.logs))

    def test_forced_balancing_stays_even(self):
        for layout in LAYOUTS:
            run = Run(document(MLA, layout, fields={"moe_router_force_load_balancing": True})).require_success()
            self.assertEqual(len({rows for rank in run.ranks for step in rank["step"] for rows in step["tokens_received"]}), 1)

    def test_meta_issues_the_same_collectives(self):
        calls = lambda run: [(count["axis"], count["pass"], count["operation"], count["num_calls"]) for count in run.ranks[0]["step"][0]["communication"]
                             if count["axis"] in ("ep", "expt_tp", "expt_dp")]
        for layout in LAYOUTS:
            cpu, meta = (Run(document(MLA, layout, ["moe"], device=device)).require_success() for device in ("cpu", "meta"))
            self.assertTrue(calls(cpu))
            self.assertEqual(calls(meta), calls(cpu))


if __name__ == "__main__":
    unittest.main()
