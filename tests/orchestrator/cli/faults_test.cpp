// Faults that the fake trainer makes, judged end to end: where memory ran out, what may not be compared, who is hot, what is a control.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/support/child_program.h"
#include "tests/support/temp_dir.h"

namespace rematch::tests {
namespace {

using nlohmann::json;

constexpr const char* kSweep = R"(schema: rematch/sweep/1
name: faults
model: {preset: moonlight_16b, num_layers: 4}
training: {seq_length: 64, micro_batch_size: 1, global_batch_size: 6, train_iters: 14, seed: 1234, bf16: true}
parallel: {world_size: 3}
backend: {device: cpu, attention: fused}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
  labels: [moe_act, moe]
measure: {blocks: 1, steady_steps: 10, warmup: 2}
launch: {kind: local, timeout: 20s}
)";

class Faults : public ::testing::Test {
 protected:
  Faults() { std::ofstream(sweep()) << kSweep; }

  int rematch(const std::vector<std::string>& words, const json& behaviour = json::object()) {
    std::vector<std::string> command = {REMATCH_BIN_DIR "/rematch", "--workspace", workspace().string(), "--trainer",
                                        REMATCH_BIN_DIR "/fake_trainer"};
    command.insert(command.end(), words.begin(), words.end());
    ChildProgram program(command, {{"REMATCH_FAKE", behaviour.dump()}}, folder_.path());
    const int code = program.wait();
    out_ = program.out();
    err_ = program.err();
    return code;
  }
  int run(const json& rules, std::vector<std::string> settings = {}) {
    std::vector<std::string> words = {"run", sweep().string()};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return rematch(words, {{"rules", rules}});
  }
  base::StudyRows study() const {
    return store::Store::open(protocol::WorkspacePaths{workspace()}.database()).value().load_study("").value();
  }
  json report() {
    rematch({"report", "--json"});
    return json::parse(out_);
  }

  std::filesystem::path sweep() const { return folder_.path() / "sweep.yaml"; }
  std::filesystem::path workspace() const { return folder_.path() / "runs"; }

  TempDir folder_;
  std::string out_;
  std::string err_;
};

json rows_of(const json& report, const std::string& key) {
  for (const json& table : report.at("tables"))
    if (table.at("key") == key) return table.at("rows");
  return json::array();
}

// An arm a stage, a block a rank.
TEST_F(Faults, OutOfMemoryIsPlacedAtItsStageAndRank) {
  using enum protocol::Stage;
  const std::vector<std::pair<std::string, protocol::Stage>> stages = {
      {"core_attn", kJoined},  {"mla_up_proj", kBuilt}, {"layernorm", kFirstForward}, {"moe_act", kFirstBackward},
      {"mlp", kFirstGradSync}, {"moe", kOptimizerInit}, {"shared_experts", kWarm},    {"full:uniform:1", kSteady}};
  json rules = json::array();
  std::string labels;
  for (const auto& [arm, stage] : stages) {
    if (!arm.starts_with("full:")) labels += (labels.empty() ? "recompute.labels=" : ",") + arm;
    for (int rank = 0; rank < 3; ++rank)
      rules.push_back({{"arm", arm}, {"block", rank}, {"rank", rank}, {"stage", to_string(stage)}, {"do", "oom"}});
  }
  EXPECT_EQ(run(rules, {labels, "recompute.full=uniform:1", "measure.blocks=3"}), 0) << err_;
  std::set<std::tuple<std::string, protocol::Stage, std::int64_t>> wanted;
  std::set<std::tuple<std::string, protocol::Stage, std::int64_t>> found;
  for (const auto& [arm, stage] : stages)
    for (int rank = 0; rank < 3; ++rank) wanted.emplace(arm, stage, rank);
  for (const base::AttemptRows& attempt : study().attempts) {
    if (attempt.trial.is_control) continue;
    ASSERT_TRUE(attempt.failure) << attempt.trial.arm;
    EXPECT_EQ(attempt.failure->kind, protocol::FailureKind::kOom);
    EXPECT_EQ(attempt.failure->rank, attempt.trial.block) << attempt.trial.arm;
    EXPECT_EQ(attempt.failure->requested_bytes, 12 << 20);
    found.emplace(attempt.trial.arm, attempt.failure->stage, attempt.failure->rank);
  }
  EXPECT_EQ(found, wanted);
}

TEST_F(Faults, AMachineThatChangesRefusesTheComparison) {
  const json rules = {{{"arm", "moe_act"}, {"hello", {{"machine.driver_version", "999"}}}},
                      {{"arm", "moe"}, {"rank", 1}, {"hello", {{"host", "node-b"}, {"machine.cpu_affinity", "77"}}}}};
  EXPECT_EQ(run(rules), 7) << err_;
  EXPECT_NE(out_.find("## Unmatched: fields that differ beside recompute"), std::string::npos) << out_;
  EXPECT_EQ(rematch({"report"}), 7);
  EXPECT_NE(err_.find("machine.driver_version"), std::string::npos) << err_;
  std::set<std::vector<std::string>> fields;
  for (const json& row : rows_of(report(), "unmatched"))
    fields.insert({row.at("modules").get<std::string>(), row.at("field").get<std::string>(), row.at("value").get<std::string>()});
  EXPECT_EQ(fields, (std::set<std::vector<std::string>>{{"moe_act", "machine.driver_version", "999"},
                                                        {"moe", "hello.host", "rank 1: node-b"},
                                                        {"moe", "machine.cpu_affinity", "rank 1: 77"}}));
  for (const json& row : rows_of(report(), "arms")) EXPECT_TRUE(row.at("peak_delta_bytes").is_null()) << row;
  EXPECT_EQ(rematch({"report", "--force"}), 0) << err_;
  EXPECT_NE(out_.find("| [] (unmatched) |"), std::string::npos) << out_;
  EXPECT_EQ(rematch({"compare", "moe", "[]"}), 7);
  EXPECT_NE(err_.find("differ beside recompute in hello.host, machine.cpu_affinity"), std::string::npos) << err_;
  EXPECT_NE(out_.find("(refused: unmatched)"), std::string::npos) << out_;
  EXPECT_EQ(rematch({"compare", "moe", "[]", "--force"}), 0) << err_;
  EXPECT_NE(out_.find("peak_allocated_bytes"), std::string::npos) << out_;
}

TEST_F(Faults, TwoArmsOfOneSettingAreCompared) {
  EXPECT_EQ(run(json::array()), 0) << err_;
  EXPECT_EQ(rematch({"compare", "moe", "[]", "--json"}), 0) << err_;
  const json rows = rows_of(json::parse(out_), "comparison");
  ASSERT_EQ(rows.at(0).at("figure"), "peak_allocated_bytes");
  EXPECT_EQ(rows[0].at("delta"), rows[0].at("value").get<std::int64_t>() - rows[0].at("against").get<std::int64_t>());
  EXPECT_LT(rows[0].at("delta"), 0);
  EXPECT_EQ(rematch({"compare", "moe", "mlp"}), 2);
  EXPECT_NE(err_.find("no arm or trial 'mlp', and no study; there are the arms of faults"), std::string::npos) << err_;
}

TEST_F(Faults, FourOutOfTenRunsOutOfMemoryMakeAnArmBorderline) {
  const json rules = {{{"arm", "moe_act"}, {"rank", 0}, {"chance", 0.4}, {"seed", 2}, {"stage", "steady"}, {"do", "oom"}}};
  EXPECT_EQ(run(rules, {"measure.blocks=5", "recompute.labels=moe_act"}), 0) << err_;
  std::int64_t num_failed = 0;
  for (const base::AttemptRows& attempt : study().attempts) num_failed += attempt.failure ? 1 : 0;
  EXPECT_EQ(num_failed, 2) << "as the seed draws them";
  const json arm = rows_of(report(), "arms").at(1);
  EXPECT_EQ(arm.at("outcome"), "borderline");
  EXPECT_EQ(arm.at("runs_passed"), 5 - num_failed);
  EXPECT_EQ(arm.at("runs_judged"), 5);
}

TEST_F(Faults, AHotRankThatSwapsIsReported) {
  constexpr std::int64_t kPeak = 300'000'000;
  EXPECT_EQ(run({{{"arm", "moe_act"}, {"rank", 0}, {"peak_bytes", kPeak}}}), 0) << err_;
  const json moved = rows_of(report(), "moved_ranks");
  ASSERT_EQ(moved.size(), 2U) << out_;
  EXPECT_EQ(moved[0].at("rank"), 2) << "the fake trainer's last rank holds the most";
  EXPECT_EQ(moved[1].at("rank"), 0);
  EXPECT_EQ(moved[1].at("peak_allocated_bytes"), kPeak);
}

TEST_F(Faults, AControlThatResolvesToCoreAttnIsNone) {
  const json rules = {{{"arm", "[]"}, {"rank", 2}, {"hello", {{"resolved_recompute.recompute_modules", {"core_attn"}}}}}};
  EXPECT_EQ(run(rules), 6) << err_;
  EXPECT_NE(err_.find("rank 2 resolved recompute_granularity selective, recompute_modules [core_attn]"), std::string::npos) << err_;
}

TEST_F(Faults, AreDiagnosedByNumbersAndNextStep) {
  const json rules = {{{"arm", "[]"}, {"rank", 1}, {"stage", "first_forward"}, {"do", "oom"}},
                      {{"arm", "moe_act"}, {"rank", 1}, {"stage", "steady"}, {"do", "oom"}}};
  EXPECT_EQ(run(rules), 0) << err_;
  EXPECT_EQ(rematch({"diagnose"}), 0) << err_;
  EXPECT_NE(out_.find("- failed-further, moe_act: The failure moved from first_forward of step 0, forward, on rank 1 to steady"),
            std::string::npos)
      << out_;
  const std::string whole = out_;
  EXPECT_EQ(rematch({"diagnose", "faults"}), 0) << err_;
  EXPECT_EQ(out_, whole);
  EXPECT_EQ(rematch({"diagnose", "moe"}), 0) << err_;
  EXPECT_NE(out_.find("No symptom shows in the numbers that were measured. Looked for: fragmentation, "), std::string::npos) << out_;
  EXPECT_EQ(rematch({"diagnose", "moe_act", "--json"}), 0) << err_;
  EXPECT_EQ(rows_of(json::parse(out_), "diagnoses").at(0).at("symptom"), "failed-further") << out_;
  EXPECT_EQ(rematch({"diagnose", "none"}), 2);
  EXPECT_NE(err_.find("no arm or trial 'none'"), std::string::npos) << err_;
}

TEST_F(Faults, ThePublishedHistoryOfADenseModelIsRefusedAsUnmatched) {
  EXPECT_EQ(run(json::array()), 0) << err_;
  EXPECT_EQ(rematch({"report", "--published", REMATCH_SOURCE_DIR "/sweeps/published/llama3_70b_32xh100.json"}), 7);
  for (const char* part :
       {"unmatched: no row of llama3_70b_32xh100 may be set against this study: it has no row without recompute, so no matched control; "
        "its "
        "setting differs from the study's in preset",
        "mlp: FP8 bytes are not modelled", "'golden throughput': not a memory measurement", "What the published source does not state",
        "no matched row without recompute was run", "the golden row is no paired comparison", "one dense Llama workload",
        "no ranking of labels follows", "| setting.attention ", "| peak_allocated of 'golden throughput' "})
    EXPECT_NE((out_ + err_).find(part), std::string::npos) << part << "\nin:\n" << out_ << err_;
}

}  // namespace
}  // namespace rematch::tests
