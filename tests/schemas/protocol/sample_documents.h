// One filled-in value of each document, for the tests of this folder. No two fields share a value where a mix-up would pass unseen.
#pragma once

#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::protocol {

inline RecomputeSpec sample_recompute() {
  RecomputeSpec recompute;
  recompute.recompute_granularity = "selective";
  recompute.recompute_modules = std::vector<std::string>{"layernorm", "moe_act"};
  recompute.core_revision = "24bad8e6";
  return recompute;
}

inline Trial sample_trial() {
  Trial trial;
  trial.trial_id = "0123456789abcdef";
  trial.group_id = "fedcba9876543210";
  trial.study = "tiny";
  trial.arm = "layernorm+moe_act";
  trial.block = 1;
  trial.slot = 2;
  trial.trainer_build_id = "b0";
  trial.omp_num_threads = 3;
  trial.timeout_ms = 600000;
  trial.collective_timeout_ms = 300001;
  trial.model = {"mla_moe", "moonlight_16b", {"num_layers"}, {{"num_layers", std::int64_t{4}}, {"layernorm_epsilon", 1e-5}}};
  trial.training = {256, 1, 4, 20, 1234, true};
  trial.optimizer.lr = 0.1 + 0.2;  // needs all its digits
  trial.parallel = {2, 1, 1, 1, 2};
  trial.backend = {"cpu", "fused", std::int64_t{1} << 31};
  trial.recompute = sample_recompute();
  trial.measure = {10, 5};
  return trial;
}

inline PhasePeaks sample_peaks() { return {{Phase::kForward, {11, 12, 13}}, {Phase::kGradSync, {21, 22, 23}}}; }

inline HelloRecord sample_hello() {
  HelloRecord hello;
  hello.trial_id = "0123456789abcdef";
  hello.rank = 1;
  hello.world_size = 2;
  hello.local_rank = 1;
  hello.host = "node-a";
  hello.pid = 4711;
  hello.unix_ns = 1790000000000000001;
  hello.device = "cpu";
  hello.device_name = "modelled device on a CPU";
  hello.build_id = "b0";
  hello.libtorch_version = "2.11.0";
  hello.comm_backend = "gloo";
  hello.omp_num_threads = 3;
  hello.resolved_recompute = sample_recompute();
  hello.machine = {.num_devices = 8,
                   .device_id = "GPU-0",
                   .driver_version = "580.95.05",
                   .cuda_version = "13.0",
                   .nccl_version = "2.28.3",
                   .link_types = "nvlink:18",
                   .cpu_affinity = "0-3,8",
                   .allocator_settings = "expandable_segments:True",
                   .environment = {{"NCCL_DEBUG", "WARN"}}};
  return hello;
}

inline StepRecord sample_step() {
  StepRecord step;
  step.step = 7;
  step.start_mono_ns = 1001;
  step.step_time_ns = 1002;
  step.loss = 0.1 + 0.2;
  step.loss_bits = "3e99999a";
  step.grad_norm = 1.25;
  step.phases = sample_peaks();
  step.end_allocated_bytes = 1003;
  step.end_reserved_bytes = 1004;
  step.lifetime_peak_allocated_bytes = 1005;
  step.lifetime_peak_reserved_bytes = 1006;
  step.num_alloc_retries = 1007;
  step.largest_free_block_bytes = 1008;
  step.forward_end_allocated_bytes = 1009;
  step.forward_end_requested_bytes = 1012;
  step.work = {{Pass::kForward, 1013, 1014, 1015, 1016}};
  step.replays = {{"moe_act", 3}};
  step.tokens_received = {128, 0, 64};
  step.peak_attribution = Attribution{{Role::kParameters, "", 1010}, {Role::kActivations, "moe/moe_act", 1011}};
  step.aux_losses = {{"load_balancing_loss", 0.1 + 0.2}, {"z_loss", std::nullopt}};
  return step;
}

inline OomRecord sample_oom() {
  OomRecord oom;
  oom.stage = Stage::kFirstBackward;
  oom.step = 0;
  oom.phase = Phase::kBackward;
  oom.requested_bytes = 1;
  oom.allocated_bytes = 2;
  oom.reserved_bytes = 3;
  oom.capacity_bytes = 4;
  oom.largest_free_block_bytes = 5;
  oom.num_alloc_retries = 6;
  oom.scope = "layer.2.mlp.experts";
  oom.phases = sample_peaks();
  oom.attribution = Attribution{{Role::kOptimizerState, "", 2}};
  oom.unix_ns = 7;
  oom.mono_ns = 8;
  oom.message = "out of memory";
  return oom;
}

// One of each kind, in the order of RankRecord's alternatives.
inline std::vector<RankRecord> sample_records() {
  ModelRecord model;
  model.num_parameters_local = 31;
  model.num_parameters_total = 32;
  model.flops_per_step = 1.5e15;
  model.sites = {{"moe_act", 3}};
  model.sites_available = {{"moe_act", 3}, {"mlp", 1}};
  model.phases = {{Phase::kBuild, {1, 2, 3}}};
  const StageRecord stage{Stage::kOptimizerInit, StageEvent::kLeave, 0, 41, 42};
  const ErrorRecord error{FailureKind::kComm, TrainExit::kCommunication, Stage::kWarm, 3, Phase::kGradSync, 51, 52, "connection closed"};
  const ByeRecord bye{TrainExit::kDone, 20, 61, 62, 63};
  return {sample_hello(), model, stage, sample_step(), sample_oom(), error, bye};
}

inline LaunchRecord sample_launch() {
  LaunchRecord launch;
  launch.trial_id = "0123456789abcdef";
  launch.attempt = 2;
  launch.host = "node-a";
  launch.supervisor_pid = 99;
  launch.command = {"rematch-train", "--trial", "trial.json"};
  launch.environment = {{"OMP_NUM_THREADS", "3"}};
  launch.start_unix_ns = 71;
  launch.end_unix_ns = 72;
  launch.end = LaunchEnd::kRankFailed;
  launch.cause_rank = 1;
  launch.ranks = {{0, 101, std::nullopt, 15, true, 81, 82, 0}, {1, 102, 10, std::nullopt, false, 83, 84, 1}};
  launch.nodes = {{"n1", "node-a", "0,1", "s0.n1"}, {"n2", "node-b", std::nullopt, std::nullopt}};
  launch.allocation = Allocation{42, 40, 2, 1, "00c0ffee00c0ffee"};
  launch.strays_ended = 1;
  launch.message = "rank 1 ended with exit code 10";
  return launch;
}

}  // namespace rematch::protocol
