#include "tests/orchestrator/compat/cases.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace rematch::compat {
namespace {

TEST(Configurations, AreJudgedAsMegatronsClassJudgesThem) {
  for (const KnownCase& row : read_cases("megatron-config-cases.jsonl")) EXPECT_EQ(disagreement_with_class(row), "") << row.line;
}

TEST(Configurations, MeetTheRowsThatAreKnownAndNoOther) {
  for (const KnownCase& row : read_cases("row-cases.jsonl")) EXPECT_EQ(disagreement_with_rows(row), "") << row.line;
}

// What was resolved, in the place of what was written.
CheckInput written_out(const KnownCase& row) {
  nlohmann::json line = row.known;
  nlohmann::json& config = line["config"];
  for (const char* old : {"enable_cuda_graph", "external_cuda_graph", "cuda_graph_scope", "cuda_graph_modules"}) config.erase(old);
  for (const auto& [key, value] : line["resolved"].items()) config[key] = value;
  config["cuda_graph_impl"] = line["resolved_graph"]["impl"];
  config[line["revision"] == "0.16.1" ? "cuda_graph_scope" : "cuda_graph_modules"] = line["resolved_graph"]["modules"];
  return std::get<CheckInput>(read_check_line(line.dump(), std::nullopt));
}

TEST(WhatIsResolved, IsAcceptedAsItIsAndRewrittenNoMore) {
  int num_cases = 0;
  for (const KnownCase& row : read_cases("megatron-config-cases.jsonl")) {
    // The alias passes by checks that its result would meet.
    if (!row.known["accepted"] || row.known["config"].contains("moe_layer_recompute")) continue;
    const CheckInput input = written_out(row);
    const Judgement judgement = judge(input.configuration, Policy::kMegatron);
    const nlohmann::json found = check_json(1, input, judgement, Policy::kMegatron);
    EXPECT_EQ(found["resolved"], row.known["resolved"]) << row.line;
    EXPECT_EQ(found["resolved_graph"], row.known["resolved_graph"]) << row.line;
    for (const Violation& violation : judgement.violations)
      EXPECT_FALSE(violation.effect == Effect::kRewrite && violation.origin == Origin::kClass) << to_string(violation) << "\n" << row.line;
    ++num_cases;
  }
  EXPECT_GT(num_cases, 100);
}

TEST(Ours, RefusesWhateverMegatronsClassRefuses) {
  for (const KnownCase& row : read_cases("megatron-config-cases.jsonl"))
    EXPECT_TRUE(row.known["accepted"] || !judge(row.input.configuration, Policy::kOurs).accepted) << row.line;
}

TEST(ALine, IsReadOrRefusedAsItsExampleSays) {
  std::size_t num_refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REMATCH_SOURCE_DIR "/schemas/examples/check-config")) {
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const bool is_refused = std::holds_alternative<LineProblem>(read_check_line(text, std::nullopt));
    EXPECT_EQ(is_refused, entry.path().filename().string().starts_with("invalid-")) << entry.path();
    num_refused += is_refused ? 1 : 0;
  }
  EXPECT_GE(num_refused, 3u);
}

// Rows of which a raw configuration knows nothing: rules_test.cpp has their cases.
bool needs_trial(const Rule& rule) { return rule.id == "R1" || rule.id == "R3" || rule.id == "R4"; }

TEST(ARowLeftOut, TurnsSomeCaseRed) {
  const auto of_class = read_cases("megatron-config-cases.jsonl");
  const auto of_rows = read_cases("row-cases.jsonl");
  std::vector<std::set<std::string>> keys;
  for (const KnownCase& row : of_class) keys.push_back(keys_of(judge(row.input.configuration, Policy::kMegatron)));
  for (const Rule& rule : rules()) {
    if (needs_trial(rule)) continue;
    bool is_red = false;
    for (std::size_t i = 0; i < of_class.size() && !is_red; ++i)
      is_red = keys[i].contains(key_of(rule)) && !disagreement_with_class(of_class[i], &rule).empty();
    for (std::size_t i = 0; i < of_rows.size() && !is_red; ++i)
      is_red = std::set<std::string>(of_rows[i].known["keys"]).contains(key_of(rule)) && !disagreement_with_rows(of_rows[i], &rule).empty();
    EXPECT_TRUE(is_red) << key_of(rule) << " can be left out";
  }
}

}  // namespace
}  // namespace rematch::compat
