"""Runs of the real trainer, all ranks, without the controller: the trial document, the processes, and what they left behind."""
import functools
import json
import os
import pathlib
import socket
import subprocess
import tempfile

BIN = pathlib.Path(os.environ.get("REMATCH_BIN_DIR", pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin"))
TRAINER = BIN / "rematch-train"
LIMIT_S = 60

# One dense and two MoE layers. No single tensor or buffer reaches 1 MiB: above that the allocator hands out blocks with an unsplit rest of up to
# 1 MiB, which depends on history and would blur exact byte counts.
TINY = {"num_layers": 3, "hidden_size": 32, "num_attention_heads": 4, "kv_lora_rank": 16, "qk_head_dim": 8, "qk_pos_emb_head_dim": 4,
        "v_head_dim": 8, "ffn_hidden_size": 96, "num_moe_experts": 8, "moe_router_topk": 2, "moe_ffn_hidden_size": 24,
        "moe_shared_expert_intermediate_size": 48, "padded_vocab_size": 512}


@functools.cache  # the same program for a whole test run
def describe():
    return json.loads(subprocess.run([str(TRAINER), "--describe"], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout)


def resolved_fields(preset, overrides):
    """The preset's fields with the family's defaults filled in."""
    family = next(family for family in describe()["families"] if family["name"] == preset["family"])
    defaults = {field["name"]: field["default_value"] for field in family["fields"]}
    return {**defaults, **preset["fields"], **overrides}


def trial_document(modules, *, preset="moonlight_16b", attention="fused", recompute=None, fields=None, world_size=2, expert_parallel=2,
                   training=None, optimizer=None, memory_limit_bytes=None, device="cpu", measure=None, granularity="selective",
                   parallel=None, features=None, prediction=None, shrink=True, expandable_segments=False):
    """`shrink`: moonlight_16b in the size of TINY."""
    description = describe()
    preset = next(known for known in description["presets"] if known["name"] == preset)
    overrides = {**(TINY if shrink and preset["name"] == "moonlight_16b" else {}), **(fields or {})}
    document_training = {"seq_length": 64, "micro_batch_size": 1, "global_batch_size": world_size, "train_iters": 3, "seed": 1234, "bf16": True}
    return {
        "schema": "rematch/trial/1", "trial_id": "0" * 15 + "1", "group_id": "0" * 16, "study": "tests", "arm": "+".join(modules or []) or "[]",
        "is_control": modules == [], "block": 0, "slot": 0, "trainer_build_id": description["build_id"], "omp_num_threads": 1,
        "timeout_ms": LIMIT_S * 1000, "collective_timeout_ms": LIMIT_S * 500,
        "model": {"family": preset["family"], "preset": preset["name"], "overridden": sorted(overrides), "fields": resolved_fields(preset, overrides)},
        "training": {**document_training, **(training or {})},
        "optimizer": {"use_distributed_optimizer": True, "grad_reduce_in_fp32": False, "use_precision_aware_optimizer": False,
                      "exp_avg_dtype": "fp32", "exp_avg_sq_dtype": "fp32", "store_param_remainders": True, "fp8_recipe": None,
                      "gradient_accumulation_fusion": False, "lr": 1e-3,
                      "adam_beta1": 0.9, "adam_beta2": 0.95, "adam_eps": 1e-8, "weight_decay": 0.1, "clip_grad": 1.0, **(optimizer or {})},
        "parallel": {"world_size": world_size, "tensor_model_parallel_size": 1, "pipeline_model_parallel_size": 1,
                     "context_parallel_size": 1, "expert_model_parallel_size": expert_parallel,
                     "expert_tensor_parallel_size": 1, "virtual_pipeline_model_parallel_size": None, "sequence_parallel": False, "cp_comm_type": "p2p",
                     "num_layers_in_first_pipeline_stage": None, "num_layers_in_last_pipeline_stage": None,
                     "account_for_embedding_in_pipeline_split": False, "account_for_loss_in_pipeline_split": False,
                     **(parallel or {})},
        "backend": {"device": device, "attention": attention, "memory_limit_bytes": memory_limit_bytes,
                    "expandable_segments": expandable_segments},
        "features": {"fp8": None, "cuda_graph_impl": "none", "moe_shared_expert_overlap": False, "cpu_offloading": False,
                     "cross_entropy_gradient": "fp32",
                     **(features or {})},
        "recompute": {"recompute_granularity": granularity, "recompute_modules": modules, "recompute_method": None,
                      "recompute_num_layers": None, "distribute_saved_activations": False, "core_revision": "24bad8e6", **(recompute or {})},
        "prediction": prediction,
        "measure": measure or {"steady_steps": 1, "warmup_steps": 1},
    }


def tiny_presets():
    return [preset["name"] for preset in describe()["presets"] if preset["name"].endswith("_tiny")]


def labels_of(preset):
    """Those that name a unit of the preset's model."""
    family = next(known["family"] for known in describe()["presets"] if known["name"] == preset)
    family = next(known for known in describe()["families"] if known["name"] == family)
    return [row["label"] for row in family["labels"] if row["per_layer"]]


# Two sequences, so that what goes by sequence shows. No activation of a tiny preset is over 1 MiB with it.
TINY_TRAINING = {"seq_length": 128, "micro_batch_size": 2, "global_batch_size": 2, "train_iters": 2}


def dropout_fields(probability):
    return {"attention_dropout": probability, "hidden_dropout": probability}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def rank_environment(rank, world_size, master_port, **more):
    """What torchrun sets for a rank, all ranks on this host."""
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world_size), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(master_port), "OMP_NUM_THREADS": "1", **more}


def start_rank(arguments, environment, prefix=(), stderr=subprocess.STDOUT, program=TRAINER):
    return subprocess.Popen([*prefix, str(program), *arguments], env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=stderr, text=True)


def outputs_of(processes, limit_s=LIMIT_S):
    """What each wrote; none is alive afterwards."""
    try:
        return [process.communicate(timeout=limit_s)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()


def run_ranks(arguments, world_size, stderr=subprocess.STDOUT, program=TRAINER, limit_s=LIMIT_S):
    """One program a rank, all at the same time: their exit codes, and what each wrote."""
    port = free_port()
    processes = [start_rank(arguments, rank_environment(rank, world_size, port), stderr=stderr, program=program) for rank in range(world_size)]
    outputs = outputs_of(processes, limit_s)
    return [process.returncode for process in processes], outputs


def read_lines(path):
    """The whole lines of a rank's file; a torn tail is left out."""
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.is_file() else []


class Records:
    """What the ranks of one trial left. ranks[r] has the records of rank r by kind; gradients[r] maps (step, parameter) to a hash."""

    def __init__(self, folder, world_size):
        self.folder = pathlib.Path(folder)
        self.ranks = [self._records(rank) for rank in range(world_size)]
        self.gradients = [self._gradients(rank) for rank in range(world_size)]

    def _records(self, rank):
        lines = read_lines(self.folder / f"rank-{rank:05d}.jsonl")
        kinds = {kind: [] for kind in ("hello", "model", "stage", "step", "oom", "error", "bye")}
        for line in lines:
            kinds[line["t"]].append(line)
        return kinds

    def _gradients(self, rank):
        lines = read_lines(self.folder / f"gradients-{rank:05d}.jsonl")
        return {(line["step"], line["parameter"]): line["gradient_hash"] for line in lines}

    def loss_bits(self):
        return [[step["loss_bits"] for step in rank["step"]] for rank in self.ranks]


class Run(Records):
    """One trial carried out."""

    def __init__(self, document):
        with tempfile.TemporaryDirectory(prefix="rematch-trainer-") as folder:
            trial = pathlib.Path(folder) / "trial.json"
            trial.write_text(json.dumps(document))
            self.exit_codes, self.logs = run_ranks(["--trial", str(trial), "--gradient-log", folder], document["parallel"]["world_size"])
            super().__init__(folder, len(self.exit_codes))

    def require_success(self):
        if any(self.exit_codes):
            raise AssertionError(f"ranks ended with {self.exit_codes}:\n" + "\n".join(self.logs))
        return self


class MetaRank(Records):
    """One rank of a trial on meta, which needs no peers: its records by kind."""

    def __init__(self, document, rank=0):
        with tempfile.TemporaryDirectory(prefix="rematch-meta-") as folder:
            trial = pathlib.Path(folder) / "trial.json"
            trial.write_text(json.dumps(document))
            process = start_rank(["--trial", str(trial)], rank_environment(rank, document["parallel"]["world_size"], free_port()))
            self.log, self.exit_code = outputs_of([process])[0], process.returncode
            self.folder = pathlib.Path(folder)
            self.records = self._records(rank)

    def require_success(self):
        if self.exit_code:
            raise AssertionError(f"the rank ended with {self.exit_code}:\n{self.log}")
        return self

    def last_step(self):
        return self.records["step"][-1]


def assumptions(**changes):
    """A prediction that assumes nothing beyond the trial."""
    names = ("device", "device_memory", "outside_allocator", "workspace", "graph_pool", "expert_load")
    load = {"kind": "balanced", "imbalance": None, "histogram": None, **changes.pop("expert_load", {})}
    return {"device": "test", "device_memory_bytes": 80 << 30, "outside_allocator_bytes": 0, "workspace_bytes": 0, "graph_pool_bytes": 0,
            "expert_load": load, "origins": {name: "test" for name in names}, **changes}


def run_batch(documents, limit_s=LIMIT_S):
    """Trials of one layout, one after the other in one process a rank: the Records of each."""
    world_size = documents[0]["parallel"]["world_size"]
    with tempfile.TemporaryDirectory(prefix="rematch-batch-") as folder:
        trials = [pathlib.Path(folder) / f"{index:03d}" / "trial.json" for index in range(len(documents))]
        for trial, document in zip(trials, documents):
            trial.parent.mkdir()
            trial.write_text(json.dumps(document))
        exit_codes, logs = run_ranks([str(trial) for trial in trials], world_size, program=BIN / "trial_batch", limit_s=limit_s)
        if any(exit_codes):
            raise AssertionError(f"ranks ended with {exit_codes}:\n" + "\n".join(logs))
        return [Records(trial.parent, world_size) for trial in trials]


def activation_peak(step):
    return max(step["phases"][phase]["peak_allocated_bytes"] for phase in ("forward", "backward"))
