#include "tests/orchestrator/report/golden_studies.h"

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/published_builder.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {

namespace {

base::StudyRows interrupted_study() {
  tests::StudyBuilder builder("interrupted");
  builder.add_arm({"moe_act"});
  builder.run("[]");
  builder.run("moe_act", {.backward_peak_bytes = 880 * tests::kMegabyte});
  base::AttemptRows& stopped = builder.run_out_of_memory("[]", protocol::Stage::kSteady, protocol::Phase::kForward, 6);
  stopped.launch.end = protocol::LaunchEnd::kInterrupted;
  stopped.failure = base::Failure{};
  stopped.failure->kind = protocol::FailureKind::kInterrupted;
  return builder.rows();
}

// Four pipeline stages: the control does not fit on the last, moe_act moves the failure to the first, and the hot rank of passing arms
// moves.
base::StudyRows pipeline_study() {
  using tests::kMegabyte;
  tests::StudyBuilder builder("pipeline", {.world_size = 4, .pipeline_model_parallel_size = 4});
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
base::StudyRows decided_study() {
  using base::DecisionAction;
  tests::StudyBuilder builder = tests::clean_study("decided");
  builder.add_arm({"core_attn", "moe_act"});
  builder.add_unplanned_arm({"moe"}, base::ArmStatus::kSkipped, "not needed: the budget is met");
  builder.plan().arms.back().group_id = tests::hex_id(0xcc);
  builder.plan().arms.back().variation = "expandable_segments";
  builder.run("core_attn+moe_act",
              {.forward_peak_bytes = 800 * tests::kMegabyte, .backward_peak_bytes = 870 * tests::kMegabyte, .step_time_ns = 10'700'000});
  builder.run("core_attn+moe_act",
              {.forward_peak_bytes = 800 * tests::kMegabyte, .backward_peak_bytes = 870 * tests::kMegabyte, .step_time_ns = 10'600'000});
  builder.plan().strategy = "pairs";
  builder.plan().decisions = {{0, DecisionAction::kTake, "core_attn+moe_act", "both labels lower the activation peak alone"},
                              {1, DecisionAction::kStop, "", "every pair that its labels ask for has run"}};
  return builder.rows();
}

base::StudyRows empty_study() { return tests::StudyBuilder("empty").rows(); }

base::StudyRows odd_characters_study() {
  tests::StudyBuilder builder = tests::clean_study("odd |, \"quoted\"\n日本語");
  builder.plan().arms.back().reason = "a \"reason\", with | a pipe\nand a line";
  return builder.rows();
}

std::optional<base::StudyRows> twin = {};
};

protocol::PublishedRow published_peak_row(const std::vector<std::string>& labels, std::int64_t peak_megabytes) {
  protocol::PublishedRow row = tests::published_row(labels, protocol::PublishedEnd::kCompleted, 20);
  row.peak_allocated = tests::published_peak(peak_megabytes, 1);
  return row;
}

// With a limit that most arms do not fit in, beside outcomes that no capacity explains.
GoldenStudy contradicted_study() {
  using enum protocol::PublishedEnd;
  using tests::published_row;
  GoldenStudy golden{"contradicted", tests::capacity_study().rows()};
  for (base::AttemptRows& attempt : golden.study.attempts) attempt.trial.backend.memory_limit_bytes = 1000 * tests::kMegabyte;
  for (protocol::Trial& trial : golden.study.plan.trials) trial.backend.memory_limit_bytes = 1000 * tests::kMegabyte;
  tests::mark_predicted(golden.study);
  golden.published = tests::make_published();
  golden.published->rows = {published_row({}, kOutOfMemory, 1), published_row({"core_attn"}, kOutOfMemory, 0),
                            published_row({"moe_act"}, kOutOfMemory, 1), published_row({"moe"}, kCompleted, 12),
                            published_row({"moe", "layernorm"}, kOutOfMemory, 1)};
  golden.published->rows[2].outcome.requested = protocol::PublishedBytes{"64 MB", 64 * tests::kMegabyte, tests::kMegabyte, false};
  return golden;
}

}  // namespace

GoldenStudy simulated_study() {
  using tests::kMegabyte;
  GoldenStudy golden{"simulated", tests::clean_study("simulated").rows()};
  golden.twin = tests::clean_study("modelled").rows();
  golden.twin->plan.study_id = tests::hex_id(0x7717);
  tests::assume_device(golden.study, 1020 * kMegabyte);
  for (base::AttemptRows& attempt : golden.study.attempts) {
    tests::raise_phase(attempt, 0, protocol::Phase::kOptimizer, 890 * kMegabyte);
    if (attempt.trial.arm != "moe_act") tests::raise_phase(attempt, 1, protocol::Phase::kBackward, 1050 * kMegabyte);
    std::erase_if(attempt.ranks, [](const base::RankRows& rank) { return rank.rank != 0; });
  }
  tests::mark_predicted(golden.study);
  golden.published = tests::make_published();
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

std::vector<GoldenStudy> golden_studies() {
  return {{"clean", tests::clean_study().rows()},
          {"capacity", tests::capacity_study().rows()},
          {"interrupted", interrupted_study()},
          {"pipeline", pipeline_study()},
          {"decided", decided_study()},
          {"empty", empty_study()},
          {"odd", odd_characters_study()},
          simulated_study(),
          contradicted_study()};
}

ReportModel model_of(const GoldenStudy& golden) {
  Beside beside;
  beside.published = golden.published ? &*golden.published : nullptr;
  beside.twin = golden.twin ? &*golden.twin : nullptr;
  return make_report(golden.study, rules::judge_study(golden.study), beside);
}

}  // namespace rematch::report
