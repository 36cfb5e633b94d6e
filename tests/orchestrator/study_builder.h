// Studies made in code: two ranks, twenty steps, figures that a test chooses. Values only; everything not chosen is fixed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/recompute_arm.h"
#include "tests/support/make_trial.h"

namespace rematch::tests {

inline constexpr std::int64_t kMegabyte = 1'000'000;

// What a run of an arm looks like.
struct RunShape {
  std::int64_t forward_peak_bytes = 900 * kMegabyte;
  std::int64_t backward_peak_bytes = 1000 * kMegabyte;
  std::int64_t optimizer_peak_bytes = 700 * kMegabyte;
  std::int64_t second_rank_extra_bytes = -50 * kMegabyte;  // of rank 1, in every phase
  std::map<std::int64_t, std::int64_t> extra_bytes = {};   // of other ranks, in every phase; none: -200 MB
  std::int64_t failing_rank = 0;                           // of a run that runs out of memory
  std::int64_t step_time_ns = 10'000'000;
  std::int64_t num_steps = 20;
};

inline std::int64_t extra_bytes_of(const RunShape& shape, std::int64_t rank) {
  const auto found = shape.extra_bytes.find(rank);
  if (found != shape.extra_bytes.end()) return found->second;
  return rank == 0 ? 0 : rank == 1 ? shape.second_rank_extra_bytes : -200 * kMegabyte;
}

// Of one step: experts' tokens to and fro, again for each label that replays, and the gradients.
inline std::vector<protocol::CommCount> make_communication(const protocol::RecomputeSpec& recompute) {
  using protocol::CommOperation;
  using protocol::Pass;
  std::vector<protocol::CommCount> counts = {{"dp", Pass::kUpdate, CommOperation::kReduceScatter, 2, 8 * kMegabyte, 400'000},
                                             {"ep", Pass::kForward, CommOperation::kAllToAll, 6, 3 * kMegabyte, 300'000},
                                             {"ep", Pass::kBackward, CommOperation::kAllToAll, 6, 3 * kMegabyte, 310'000}};
  const auto num_replays = static_cast<std::int64_t>(protocol::counted_keys(recompute).size());
  if (num_replays > 0)
    counts.push_back({"ep", Pass::kReplay, CommOperation::kAllToAll, 6 * num_replays, 3 * num_replays * kMegabyte, 320'000});
  return counts;
}

inline std::string hex_id(std::int64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

inline std::string loss_bits_of(std::int64_t rank, std::int64_t step) { return hex_id(0x40000000 + rank * 1000 - step).substr(8); }

inline protocol::StageRecord stage_record(protocol::Stage stage, protocol::StageEvent event, std::optional<std::int64_t> step,
                                          std::int64_t mono_ns) {
  return {stage, event, step, 1'700'000'000'000'000'000 + mono_ns, mono_ns};
}

// Enters and leaves every stage before `last`; `last` is entered only.
inline std::vector<protocol::StageRecord> ledger_up_to(protocol::Stage last) {
  using protocol::Stage;
  std::vector<protocol::StageRecord> ledger;
  std::int64_t mono_ns = 1000;
  for (Stage stage : protocol::kAllStages) {
    std::optional<std::int64_t> step;
    if (stage >= Stage::kFirstForward) step = stage >= Stage::kWarm ? 1 : 0;
    ledger.push_back(stage_record(stage, protocol::StageEvent::kEnter, step, mono_ns += 1000));
    if (stage == last) break;
    ledger.push_back(stage_record(stage, protocol::StageEvent::kLeave, step, mono_ns += 1000));
  }
  return ledger;
}

// Of a peak in backward: what a rank always holds, and activations in and outside of regions.
inline protocol::Attribution make_attribution(std::int64_t peak_bytes) {
  using protocol::Role;
  const std::int64_t activation_bytes = peak_bytes - 400 * kMegabyte;
  return {{Role::kParameters, "", 150 * kMegabyte},
          {Role::kOptimizerState, "", 250 * kMegabyte},
          {Role::kActivations, "", activation_bytes - 220 * kMegabyte},
          {Role::kActivations, "core_attn", 20 * kMegabyte},
          {Role::kActivations, "moe", 80 * kMegabyte},
          {Role::kActivations, "moe/moe_act", 120 * kMegabyte}};
}

inline protocol::StepRecord make_step(const RunShape& shape, const protocol::RecomputeSpec& recompute, std::int64_t rank,
                                      std::int64_t step) {
  using protocol::Phase;
  const std::int64_t extra = extra_bytes_of(shape, rank);
  protocol::StepRecord record;
  record.step = step;
  record.start_mono_ns = 1'000'000 + step * shape.step_time_ns;
  record.step_time_ns = shape.step_time_ns + (step == 0 ? 5'000'000 : 1000 * (step % 3));  // the first step is slow
  record.loss = 2.0 - 0.01 * static_cast<double>(step);
  record.loss_bits = loss_bits_of(rank, step);
  record.grad_norm = 1.5;
  auto peak = [&](std::int64_t bytes) {
    return protocol::PhasePeak{shape.step_time_ns / 4, bytes + extra, bytes + extra + 100 * kMegabyte};
  };
  record.phases = {{Phase::kForward, peak(shape.forward_peak_bytes)},
                   {Phase::kBackward, peak(shape.backward_peak_bytes)},
                   {Phase::kOptimizer, peak(shape.optimizer_peak_bytes)}};
  record.lifetime_peak_allocated_bytes =
      std::max({shape.forward_peak_bytes, shape.backward_peak_bytes, shape.optimizer_peak_bytes}) + extra;
  record.lifetime_peak_reserved_bytes = record.lifetime_peak_allocated_bytes + 100 * kMegabyte;
  record.peak_attribution = make_attribution(record.lifetime_peak_allocated_bytes);
  record.end_allocated_bytes = 500 * kMegabyte;
  record.end_reserved_bytes = 600 * kMegabyte;
  record.forward_end_requested_bytes = shape.forward_peak_bytes + extra - 101 * kMegabyte;
  record.forward_end_allocated_bytes = shape.forward_peak_bytes + extra - 100 * kMegabyte;
  record.tokens_received = {64 + step, 64 - step};
  for (const std::string& key : protocol::counted_keys(recompute)) record.replays[key] = 3;
  record.communication = make_communication(recompute);
  return record;
}

inline base::RankRows make_rank(const protocol::Trial& trial, const RunShape& shape, std::int64_t rank) {
  base::RankRows rows;
  rows.rank = rank;
  protocol::HelloRecord hello;
  hello.trial_id = trial.trial_id;
  hello.rank = rank;
  hello.local_rank = rank;
  hello.world_size = trial.parallel.world_size;
  hello.host = "node-a";
  hello.pid = 4000 + rank;
  hello.unix_ns = 1'700'000'000'000'000'000;
  hello.device = "cpu";
  hello.device_name = "modelled device on a test";
  hello.build_id = trial.trainer_build_id;
  hello.libtorch_version = "2.11.0";
  hello.comm_backend = "gloo";
  hello.resolved_recompute = trial.recompute;
  hello.machine.cpu_affinity = "0-1";
  rows.hello = hello;
  protocol::ModelRecord model;
  model.num_parameters_local = 1'000'000;
  model.num_parameters_total = 1'800'000;
  model.flops_per_step = 4e9;
  model.phases = {{protocol::Phase::kBuild, {2'000'000, 300 * kMegabyte, 320 * kMegabyte}}};
  for (const std::string& key : protocol::counted_keys(trial.recompute)) model.sites[key] = 3;
  model.sites_available = {{"core_attn", 4}, {"moe", 3}, {"moe_act", 3}};
  rows.model = model;
  rows.stages = ledger_up_to(protocol::Stage::kDone);
  for (std::int64_t step = 0; step < shape.num_steps; ++step) rows.steps.push_back(make_step(shape, trial.recompute, rank, step));
  rows.bye = protocol::ByeRecord{protocol::TrainExit::kDone, shape.num_steps, rows.steps.back().lifetime_peak_allocated_bytes,
                                 rows.steps.back().lifetime_peak_reserved_bytes, 1'700'000'001'000'000'000};
  rows.exit = {rank, 4000 + rank, 0, std::nullopt, false, 500, 900'000'000};
  rows.record_complete = true;
  return rows;
}

class StudyBuilder {
 public:
  explicit StudyBuilder(const std::string& name, const protocol::ParallelSpec& layout = {.world_size = 2}) : layout_(layout) {
    study_.plan.study_id = hex_id(0x5eed);
    study_.plan.name = name;
    study_.plan.sweep_path = "sweeps/" + name + ".yaml";
    study_.plan.sweep_text = "name: " + name + "\n";
    study_.plan.trainer_build_id = "fake-trainer-1";
    study_.plan.num_blocks = 2;
    add_arm({});
  }

  base::StudyPlan& plan() { return study_.plan; }
  base::StudyRows& rows() { return study_; }

  // Two trials of the control a block, one of a candidate.
  base::ArmRow& add_arm(const std::vector<std::string>& labels) {
    return add_setting({.recompute_granularity = "selective", .recompute_modules = labels, .core_revision = "24bad8e6"});
  }
  base::ArmRow& add_setting(const protocol::RecomputeSpec& recompute) {
    base::ArmRow arm;
    arm.arm = protocol::arm_name(recompute);
    arm.group_id = hex_id(0xbb);
    arm.is_control = protocol::counted_keys(recompute).empty();
    arm.recompute = recompute;
    study_.plan.arms.push_back(arm);
    for (std::int64_t block = 0; block < study_.plan.num_blocks; ++block)
      for (std::int64_t repeat = 0; repeat < (arm.is_control ? 2 : 1); ++repeat) add_trial(arm, block);
    return study_.plan.arms.back();
  }

  // An arm that the plan refuses: it has no trials.
  void add_unplanned_arm(const std::vector<std::string>& labels, base::ArmStatus status, const std::string& reason) {
    base::ArmRow& arm = add_arm(labels);
    arm.status = status;
    arm.reason = reason;
    std::erase_if(study_.plan.trials, [&](const protocol::Trial& trial) { return trial.arm == arm.arm; });
  }

  // Runs the next trial of the arm that has no attempt yet.
  base::AttemptRows& run(const std::string& arm, const RunShape& shape = {}) {
    base::AttemptRows rows;
    rows.trial = next_trial(arm);
    rows.study_id = study_.plan.study_id;
    rows.launch.trial_id = rows.trial.trial_id;
    rows.launch.host = "node-a";
    rows.launch.supervisor_pid = 3999;
    rows.launch.command = {"/opt/rematch-train", "--trial", "/runs/trial one/trial.json"};
    rows.launch.nodes = {{"node-a", "node-a", std::nullopt, std::nullopt}};
    rows.launch.environment = {{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
    rows.launch.start_unix_ns = 1'700'000'000'000'000'000;
    rows.launch.end_unix_ns = 1'700'000'002'000'000'000;
    for (std::int64_t rank = 0; rank < rows.trial.parallel.world_size; ++rank) rows.ranks.push_back(make_rank(rows.trial, shape, rank));
    for (const base::RankRows& rank : rows.ranks) rows.launch.ranks.push_back(rank.exit);
    study_.attempts.push_back(std::move(rows));
    return study_.attempts.back();
  }

  // Runs all trials of the arm.
  void run_all(const std::string& arm, const RunShape& shape = {}) {
    for (const protocol::Trial& trial : std::vector<protocol::Trial>(study_.plan.trials))
      if (trial.arm == arm) run(arm, shape);
  }

  // One rank runs out of memory in `stage` of step `step`, which is not completed; the others are ended by the supervisor.
  base::AttemptRows& run_out_of_memory(const std::string& arm, protocol::Stage stage, protocol::Phase phase, std::int64_t step,
                                       const RunShape& shape = {}) {
    base::AttemptRows& rows = run(arm, shape);
    rows.launch.end = protocol::LaunchEnd::kRankFailed;
    rows.launch.cause_rank = shape.failing_rank;
    for (base::RankRows& rank : rows.ranks) {
      rank.stages = ledger_up_to(stage);
      rank.steps.resize(static_cast<std::size_t>(step));
      rank.bye.reset();
      rank.record_complete = false;
    }
    protocol::OomRecord oom;
    oom.stage = stage;
    oom.step = step;
    oom.phase = phase;
    oom.requested_bytes = 64 * kMegabyte;
    oom.allocated_bytes = 960 * kMegabyte;
    oom.reserved_bytes = 990 * kMegabyte;
    oom.capacity_bytes = 1000 * kMegabyte;
    oom.scope = "layer.2.mlp.experts";
    oom.phases = {{phase, {1'000'000, 960 * kMegabyte, 990 * kMegabyte}}};
    oom.attribution = make_attribution(oom.allocated_bytes);
    oom.mono_ns = 5'000'000;
    oom.message = "out of memory: 64000000 bytes were requested";
    for (base::RankRows& rank : rows.ranks) {
      rank.exit.exit_code.reset();
      rank.exit.signal = 15;
      rank.exit.ended_by_supervisor = true;
    }
    base::RankRows& cause = rows.ranks[static_cast<std::size_t>(shape.failing_rank)];
    cause.oom = oom;
    cause.exit = {shape.failing_rank, cause.exit.pid, 10, std::nullopt, false, cause.exit.start_mono_ns, cause.exit.end_mono_ns};
    for (std::size_t i = 0; i < rows.ranks.size(); ++i) rows.launch.ranks[i] = rows.ranks[i].exit;
    base::Failure failure;
    failure.kind = protocol::FailureKind::kOom;
    failure.stage = stage;
    failure.step = step;
    failure.phase = phase;
    failure.rank = shape.failing_rank;
    failure.host = "node-a";
    failure.requested_bytes = oom.requested_bytes;
    failure.allocated_bytes = oom.allocated_bytes;
    failure.reserved_bytes = oom.reserved_bytes;
    failure.capacity_bytes = oom.capacity_bytes;
    failure.message = oom.message;
    rows.failure = failure;
    return rows;
  }

 private:
  void add_trial(const base::ArmRow& arm, std::int64_t block) {
    protocol::Trial trial = make_trial(layout_.world_size);
    trial.parallel = layout_;
    trial.study = study_.plan.name;
    trial.trial_id = hex_id(0x1000 + next_number_++);
    trial.group_id = arm.group_id;
    trial.arm = arm.arm;
    trial.is_control = arm.is_control;
    trial.block = block;
    for (const protocol::Trial& other : study_.plan.trials) trial.slot += other.block == block ? 1 : 0;
    trial.recompute = arm.recompute;
    trial.training.train_iters = 20;
    trial.measure = {10, 2};
    trial.model.preset = "moonlight_16b";
    trial.model.family = "mla_moe";
    trial.model.overridden = {"hidden_size", "num_layers"};
    trial.model.fields = {{"hidden_size", std::int64_t{256}}, {"num_layers", std::int64_t{4}}};
    study_.plan.trials.push_back(trial);
  }

  const protocol::Trial& next_trial(const std::string& arm) const {
    for (const protocol::Trial& trial : study_.plan.trials) {
      auto is_its = [&](const base::AttemptRows& attempt) { return attempt.trial.trial_id == trial.trial_id; };
      if (trial.arm == arm && std::none_of(study_.attempts.begin(), study_.attempts.end(), is_its)) return trial;
    }
    throw std::logic_error("no trial of " + arm + " is left to run");
  }

  protocol::ParallelSpec layout_;
  base::StudyRows study_;
  std::int64_t next_number_ = 0;
};

// A control that fits, a candidate that saves memory and costs time, one that does neither.
inline StudyBuilder clean_study(const std::string& name = "clean") {
  StudyBuilder builder(name);
  builder.add_arm({"core_attn"});
  builder.add_arm({"moe_act"});
  builder.add_unplanned_arm({"gdn_norm_out"}, base::ArmStatus::kInactive, "no gated delta net layer");
  builder.run("[]");
  builder.run("[]", {.step_time_ns = 10'100'000});
  builder.run_all("core_attn", {.step_time_ns = 10'400'000});
  builder.run_all("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 880 * kMegabyte, .step_time_ns = 10'200'000});
  builder.run("[]");
  builder.run("[]", {.step_time_ns = 9'950'000});
  return builder;
}

// The control and narrow arms run out of memory at different stages, moe passes, and so does a wider one.
inline StudyBuilder capacity_study() {
  using protocol::Phase;
  using protocol::Stage;
  StudyBuilder builder("capacity");
  builder.add_arm({"core_attn"});
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.add_arm({"moe", "layernorm"});
  builder.plan().budget_per_rank_bytes = 800 * kMegabyte;
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1);
  for (int repeat = 0; repeat < 2; ++repeat) {
    builder.run_out_of_memory("core_attn", Stage::kFirstForward, Phase::kForward, 0);
    builder.run_out_of_memory("moe_act", Stage::kSteady, Phase::kBackward, 3, {.backward_peak_bytes = 940 * kMegabyte});
  }
  const RunShape moe = {.forward_peak_bytes = 600 * kMegabyte, .backward_peak_bytes = 690 * kMegabyte, .step_time_ns = 12'000'000};
  builder.run_all("moe", moe);
  RunShape wider = moe;
  wider.backward_peak_bytes = 650 * kMegabyte;
  wider.step_time_ns = 12'600'000;
  builder.run_all("moe+layernorm", wider);
  return builder;
}

}  // namespace rematch::tests
