#include "schemas/protocol/trial.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/schemas/protocol/expect_refused.h"
#include "tests/schemas/protocol/sample_documents.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

TEST(Trial, ReadsBackWhatItWroteByteForByte) {
  const std::string text = to_json(sample_trial()).dump();
  EXPECT_EQ(to_json(parse_trial(json::parse(text))).dump(), text);
}

TEST(Trial, KeepsEveryValue) {
  const Trial trial = parse_trial(json::parse(to_json(sample_trial()).dump()));
  EXPECT_EQ(trial.trial_id, "0123456789abcdef");
  EXPECT_EQ(trial.slot, 2);
  EXPECT_EQ(trial.optimizer.lr, 0.1 + 0.2);
  EXPECT_EQ(trial.backend.memory_limit_bytes, std::int64_t{1} << 31);
  EXPECT_EQ(std::get<std::int64_t>(trial.model.fields.at("num_layers")), 4);
  EXPECT_EQ(std::get<double>(trial.model.fields.at("layernorm_epsilon")), 1e-5);
  EXPECT_EQ(trial.recompute.recompute_modules, (std::vector<std::string>{"layernorm", "moe_act"}));
}

TEST(Trial, WritesItsKeysInOneOrder) {
  const std::string text = to_json(sample_trial()).dump();
  EXPECT_EQ(text, json::parse(text).dump());
  EXPECT_LT(text.find("\"arm\""), text.find("\"backend\""));
}

TEST(Trial, TellsAnUnsetModuleListFromAnEmptyOne) {
  Trial trial = sample_trial();
  trial.recompute.recompute_modules = std::vector<std::string>{};
  EXPECT_TRUE(parse_trial(to_json(trial)).recompute.recompute_modules.has_value());
  trial.recompute.recompute_modules.reset();
  EXPECT_FALSE(parse_trial(to_json(trial)).recompute.recompute_modules.has_value());
}

TEST(Trial, RefusesAnUnknownKeyAndSaysWhereItIs) {
  json document = to_json(sample_trial());
  document["training"]["sede"] = 1;
  expect_refused([&] { parse_trial(document); }, {"trial.training.sede", "seed", "found 1"});
}

TEST(Trial, RefusesAMissingKey) {
  json document = to_json(sample_trial());
  document["backend"].erase("memory_limit_bytes");
  expect_refused([&] { parse_trial(document); }, {"trial.backend.memory_limit_bytes", "found none"});
}

struct BadValue {
  const char* pointer;
  json value;
  const char* path;
  const char* wanted;
  std::string found = "found " + value.dump();
};

TEST(Trial, NamesPathWantedAndFoundForEachBadValue) {
  const std::vector<BadValue> cases = {
      {"/schema", "rematch/trial/2", "trial.schema", "rematch/trial/1"},
      {"/trial_id", "0123", "trial.trial_id", "16 hex digits"},
      {"/training/seq_length", "256", "trial.training.seq_length", "a 64-bit integer"},
      {"/training/seq_length", 256.0, "trial.training.seq_length", "a 64-bit integer"},
      {"/training/seq_length", 18446744073709551615u, "trial.training.seq_length", "a 64-bit integer"},
      {"/training/micro_batch_size", 0, "trial.training.micro_batch_size", "at least 1"},
      {"/training/bf16", 1, "trial.training.bf16", "true or false"},
      {"/optimizer/lr", "fast", "trial.optimizer.lr", "a number"},
      {"/backend/device", "tpu", "trial.backend.device", "one of cpu, cuda, meta"},
      {"/backend/memory_limit_bytes", 0, "trial.backend.memory_limit_bytes", "at least 1"},
      {"/recompute/recompute_granularity", "some", "trial.recompute.recompute_granularity", "one of selective, full"},
      {"/recompute/recompute_modules", "moe", "trial.recompute.recompute_modules", "a list"},
      {"/recompute/recompute_modules", json::array({1}), "trial.recompute.recompute_modules[0]", "a string", "found 1"},
      {"/model/fields/num_layers", json::object(), "trial.model.fields.num_layers", "a list of integers"},
      {"/model", 3, "trial.model", "an object"},
  };
  for (const BadValue& bad : cases) {
    json document = to_json(sample_trial());
    document[json::json_pointer(bad.pointer)] = bad.value;
    SCOPED_TRACE(bad.pointer);
    expect_refused([&] { parse_trial(document); }, {std::string(bad.path), "wanted", bad.wanted, bad.found});
  }
}

TEST(Trial, RefusesALayoutThatDoesNotDivide) {
  json document = to_json(sample_trial());
  document["parallel"]["world_size"] = 3;
  expect_refused([&] { parse_trial(document); }, {"trial.parallel", "world_size", "expert_model_parallel_size 2", "found 3"});
}

TEST(Trial, RefusesABatchThatTheRanksCannotShare) {
  json document = to_json(sample_trial());
  document["training"]["global_batch_size"] = 5;
  expect_refused([&] { parse_trial(document); },
                 {"trial.training.global_batch_size", "micro_batch_size 1 * data_parallel_size 2", "found 5"});
}

TEST(Trial, NamesTheFileThatIsMissing) {
  expect_refused([] { read_trial("/nowhere/trial.json"); }, {"/nowhere/trial.json", "no such file"});
}

TEST(GroupDocument, IsSharedByArmsAndByReplicates) {
  Trial other = sample_trial();
  other.trial_id = other.group_id = "0000000000000000";
  other.study = "another";
  other.arm = "[]";
  other.is_control = true;
  other.block = 5;
  other.slot = 6;
  other.timeout_ms = 1;
  other.trainer_build_id = "b1";
  other.recompute.recompute_modules = std::vector<std::string>{};
  EXPECT_EQ(group_document(other), group_document(sample_trial()));
}

TEST(GroupDocument, DiffersWithAnythingThatMakesAComparisonUnfair) {
  const json reference = group_document(sample_trial());
  std::vector<Trial> others(6, sample_trial());
  others[0].training.seed = 1;
  others[1].model.fields["num_layers"] = std::int64_t{5};
  others[2].backend.attention = "unfused";
  others[3].omp_num_threads = 1;
  others[4].recompute.core_revision = "1234567";
  others[5].parallel.expert_model_parallel_size = 1;
  for (const Trial& other : others) EXPECT_NE(group_document(other), reference);
}

}  // namespace
}  // namespace rematch::protocol
