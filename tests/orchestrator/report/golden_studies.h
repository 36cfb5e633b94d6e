// The studies of reports/golden: one of each kind that a report must get right. Values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/orchestrator/published_builder.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::tests {

inline base::StudyRows interrupted_study() {
  StudyBuilder builder("interrupted");
  builder.add_arm({"moe_act"});
  builder.run("[]");
  builder.run("moe_act", {.backward_peak_bytes = 880 * kMegabyte});
  base::AttemptRows& stopped = builder.run_out_of_memory("[]", protocol::Stage::kSteady, protocol::Phase::kForward, 6);
  stopped.launch.end = protocol::LaunchEnd::kInterrupted;
  stopped.failure = base::Failure{};
  stopped.failure->kind = protocol::FailureKind::kInterrupted;
  return builder.rows();
}

// Four pipeline stages: the control does not fit on the last, moe_act moves the failure to the first, and the hot rank of passing arms
// moves.
inline base::StudyRows pipeline_study() {
  StudyBuilder builder("pipeline", {.world_size = 4, .pipeline_model_parallel_size = 4});
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.add_arm({"moe", "layernorm"});
  for (int repeat = 0; repeat < 4; ++repeat)
    builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1, {.failing_rank = 3});
  for (int repeat = 0; repeat < 2; ++repeat)
    builder.run_out_of_memory("moe_act", protocol::Stage::kSteady, protocol::Phase::kBackward, 3, {.failing_rank = 0});
  builder.run_all("moe", {.backward_peak_bytes = 950 * kMegabyte});
  builder.run_all("moe+layernorm", {.backward_peak_bytes = 850 * kMegabyte, .extra_bytes = {{3, 40 * kMegabyte}}});
  return builder.rows();
}

// A strategy took a pair of labels, left another out, and ended; a group that it may have come to has no table.
inline base::StudyRows decided_study() {
  using base::DecisionAction;
  StudyBuilder builder = clean_study("decided");
  builder.add_arm({"core_attn", "moe_act"});
  builder.add_unplanned_arm({"moe"}, base::ArmStatus::kSkipped, "not needed: the budget is met");
  builder.plan().arms.back().group_id = hex_id(0xcc);
  builder.plan().arms.back().variation = "expandable_segments";
  builder.run("core_attn+moe_act",
              {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 870 * kMegabyte, .step_time_ns = 10'700'000});
  builder.run("core_attn+moe_act",
              {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 870 * kMegabyte, .step_time_ns = 10'600'000});
  builder.plan().strategy = "pairs";
  builder.plan().decisions = {{0, DecisionAction::kTake, "core_attn+moe_act", "both labels lower the activation peak alone"},
                              {1, DecisionAction::kStop, "", "every pair that its labels ask for has run"}};
  return builder.rows();
}

inline base::StudyRows empty_study() { return StudyBuilder("empty").rows(); }

inline base::StudyRows odd_characters_study() {
  StudyBuilder builder = clean_study("odd |, \"quoted\"\n日本語");
  builder.plan().arms.back().reason = "a \"reason\", with | a pipe\nand a line";
  return builder.rows();
}

struct GoldenStudy {
  std::string name;
  base::StudyRows study;
  std::optional<protocol::Published> published = {};
  std::optional<base::StudyRows> twin = {};
};

inline protocol::PublishedRow published_peak_row(const std::vector<std::string>& labels, std::int64_t peak_megabytes) {
  protocol::PublishedRow row = published_row(labels, protocol::PublishedEnd::kCompleted, 20);
  row.peak_allocated = published_peak(peak_megabytes, 1);
  return row;
}

// On the meta device without a limit: only rank 0 of two that are alike was run, and a modelled device has run the same.
inline GoldenStudy simulated_study() {
  GoldenStudy golden{"simulated", clean_study("simulated").rows()};
  golden.twin = clean_study("modelled").rows();
  golden.twin->plan.study_id = hex_id(0x7717);
  assume_device(golden.study, 1020 * kMegabyte);
  for (base::AttemptRows& attempt : golden.study.attempts) {
    raise_phase(attempt, 0, protocol::Phase::kOptimizer, 890 * kMegabyte);
    if (attempt.trial.arm != "moe_act") raise_phase(attempt, 1, protocol::Phase::kBackward, 1050 * kMegabyte);
    std::erase_if(attempt.ranks, [](const base::RankRows& rank) { return rank.rank != 0; });
  }
  mark_predicted(golden.study);
  golden.published = make_published();
  golden.published->setting.remarks = {"mock data"};
  golden.published->rows = {published_peak_row({}, 990), published_peak_row({"core_attn"}, 985), published_peak_row({"moe_act"}, 895),
                            published_peak_row({"moe"}, 700), published_peak_row({"mlp"}, 800)};
  std::vector<protocol::PublishedRow>& rows = golden.published->rows;
  rows[0].outcome = {protocol::PublishedEnd::kOutOfMemory, 1, std::nullopt, std::nullopt, std::nullopt, "the router failed"};
  rows[1].outcome = rows[0].outcome;
  rows[2].deltas = {{"peak_allocated", "[]", -9.6, 1, std::nullopt}};
  rows[4].precision = "fp8";
  rows[4].comparable = false;
  rows[4].reason = "FP8 bytes are not modelled";
  return golden;
}

// With a limit that most arms do not fit in, beside outcomes that no capacity explains.
inline GoldenStudy contradicted_study() {
  using enum protocol::PublishedEnd;
  GoldenStudy golden{"contradicted", capacity_study().rows()};
  for (base::AttemptRows& attempt : golden.study.attempts) attempt.trial.backend.memory_limit_bytes = 1000 * kMegabyte;
  for (protocol::Trial& trial : golden.study.plan.trials) trial.backend.memory_limit_bytes = 1000 * kMegabyte;
  mark_predicted(golden.study);
  golden.published = make_published();
  golden.published->rows = {published_row({}, kOutOfMemory, 1), published_row({"core_attn"}, kOutOfMemory, 0),
                            published_row({"moe_act"}, kOutOfMemory, 1), published_row({"moe"}, kCompleted, 12),
                            published_row({"moe", "layernorm"}, kOutOfMemory, 1)};
  golden.published->rows[2].outcome.requested = protocol::PublishedBytes{"64 MB", 64 * kMegabyte, kMegabyte, false};
  return golden;
}

inline std::vector<GoldenStudy> golden_studies() {
  return {{"clean", clean_study().rows()},
          {"capacity", capacity_study().rows()},
          {"interrupted", interrupted_study()},
          {"pipeline", pipeline_study()},
          {"decided", decided_study()},
          {"empty", empty_study()},
          {"odd", odd_characters_study()},
          simulated_study(),
          contradicted_study()};
}

}  // namespace rematch::tests
