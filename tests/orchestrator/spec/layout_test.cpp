// Degrees, batches and model fields of a sweep whose trainer splits every axis.
#include <gtest/gtest.h>

#include "tests/orchestrator/spec/sample.h"

namespace rematch::spec {
namespace {

protocol::Describe splitting_trainer() {
  protocol::Describe trainer = example_trainer("valid-families");
  trainer.parallel_axes = {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
                           "expert_model_parallel_size", "expert_tensor_parallel_size",  "virtual_pipeline_model_parallel_size"};
  return trainer;
}

// "preset: parallel section" and options over the rest.
ParsedSweep parse_layout(const std::string& preset, const std::string& parallel, const std::vector<Override>& overrides = {}) {
  std::string text = sample_with(kOwnModel, "  preset: " + preset + "\n");
  text = sample_with("  world_size: 2\n  expert_model_parallel_size: 2\n", parallel, text);
  text = sample_with("  labels: [moe_act, mlp]\n  sets: [[layernorm, moe_act]]\n", "  labels: [core_attn]\n", text);
  return parse_sweep(text, "s.yaml", splitting_trainer(), overrides);
}

std::string origin_of(const ParsedSweep& parsed, const std::string& key) {
  for (const auto& row : parsed.spec.origins)
    if (row.key == key) return row.value + " from " + row.origin;
  return "nothing";
}

void expect_one_problem(const ParsedSweep& parsed, const std::string& path, const std::vector<std::string>& words) {
  ASSERT_EQ(parsed.problems.size(), 1u) << all_problems(parsed);
  EXPECT_EQ(parsed.problems[0].path, path) << all_problems(parsed);
  for (const std::string& word : words)
    EXPECT_NE(parsed.problems[0].message.find(word), std::string::npos) << word << "\nin: " << parsed.problems[0].message;
}

TEST(ExpertTensorSize, FollowsTheTensorParallelSizeWhereItIsNotWritten) {
  const std::string layout = "  world_size: 4\n  tensor_model_parallel_size: 2\n  expert_model_parallel_size: 2\n";
  const auto followed = parse_layout("moonlight_16b", layout);
  EXPECT_EQ(all_problems(followed), "");
  EXPECT_EQ(followed.spec.common.parallel.expert_tensor_parallel_size, 2);
  EXPECT_EQ(origin_of(followed, "parallel.expert_tensor_parallel_size"), "2 from default: tensor_model_parallel_size");
  const auto null = parse_layout("moonlight_16b", layout + "  expert_tensor_parallel_size: null\n");
  EXPECT_EQ(origin_of(null, "parallel.expert_tensor_parallel_size"), "2 from default: tensor_model_parallel_size");
  const auto written = parse_layout("moonlight_16b", layout + "  expert_tensor_parallel_size: 1\n");
  EXPECT_EQ(origin_of(written, "parallel.expert_tensor_parallel_size"), "1 from s.yaml:14:32");
}

TEST(ExpertTensorSize, ThatMakesTheWorldTooSmallIsRefusedWithWhatToWrite) {
  const std::string layout = "  world_size: 4\n  tensor_model_parallel_size: 2\n  expert_model_parallel_size: 4\n";
  expect_one_problem(parse_layout("moonlight_16b", layout), "parallel.expert_model_parallel_size",
                     {"expert_tensor_parallel_size 2 * expert_model_parallel_size 4", "found 4", "write expert_tensor_parallel_size: 1"});
  EXPECT_EQ(all_problems(parse_layout("moonlight_16b", layout + "  expert_tensor_parallel_size: 1\n")), "");
}

TEST(ExpertTensorSize, IsNoAdviceWhereItWouldNotHelp) {
  const auto parsed = parse_layout("moonlight_16b", "  world_size: 4\n  tensor_model_parallel_size: 2\n  expert_model_parallel_size: 3\n");
  EXPECT_NE(all_problems(parsed).find("expert_model_parallel_size 3"), std::string::npos);
  EXPECT_EQ(all_problems(parsed).find("write expert_tensor_parallel_size"), std::string::npos) << all_problems(parsed);
}

TEST(ExpertTensorSize, OfATrainerThatCannotSplitExpertsIsRefusedForModelsThatHaveThemOnly) {
  protocol::Describe trainer = splitting_trainer();
  std::erase(trainer.parallel_axes, "expert_tensor_parallel_size");
  const auto parse = [&](const std::string& preset) {
    const std::string text =
        sample_with(kOwnModel, "  preset: " + preset + "\n",
                    sample_with("expert_model_parallel_size: 2", "tensor_model_parallel_size: 2",
                                sample_with("  labels: [moe_act, mlp]\n  sets: [[layernorm, moe_act]]\n", "  labels: [mlp]\n")));
    return parse_sweep(text, "s.yaml", trainer, {});
  };
  EXPECT_EQ(all_problems(parse("llama3_70b")), "");
  expect_one_problem(parse("moonlight_16b"), "parallel.expert_tensor_parallel_size",
                     {"cannot split", "found 2, which follows tensor_model_parallel_size: write 1"});
}

TEST(CollectiveTimeout, IsHalfOfTheTimeoutWhereItIsNotWritten) {
  const auto parsed = parse_layout("llama3_70b", "  world_size: 2\n");
  EXPECT_EQ(parsed.spec.common.collective_timeout_ms, 45'000);
  EXPECT_EQ(origin_of(parsed, "launch.collective_timeout"), "45s from default: half of timeout");
}

TEST(Interleaving, WantsMicroBatchesInMultiplesOfThePipeline) {
  const std::string layout = "  world_size: 4\n  pipeline_model_parallel_size: 4\n  virtual_pipeline_model_parallel_size: 2\n";
  EXPECT_EQ(all_problems(parse_layout("llama3_70b", layout, {{"training.global_batch_size", "8"}})), "");
  expect_one_problem(parse_layout("llama3_70b", layout, {{"training.global_batch_size", "6"}}), "training.global_batch_size",
                     {"a multiple of pipeline_model_parallel_size 4", "virtual_pipeline_model_parallel_size 2, found 6"});
  EXPECT_EQ(all_problems(
                parse_layout("llama3_70b", "  world_size: 4\n  pipeline_model_parallel_size: 4\n", {{"training.global_batch_size", "6"}})),
            "");
}

TEST(PipelineSplit, OfLayersIsRefusedWithTheNumbers) {
  const auto parse = [](const std::string& options, const char* num_layers) {
    return parse_layout("llama3_70b", "  world_size: 4\n  pipeline_model_parallel_size: 4\n" + options, {{"model.num_layers", num_layers}});
  };
  EXPECT_EQ(all_problems(parse("", "8")), "");
  expect_one_problem(parse("", "6"), "parallel.pipeline_model_parallel_size", {"num_layers 6", "4 pipeline ranks"});
  expect_one_problem(parse("  num_layers_in_last_pipeline_stage: 1\n", "6"), "parallel.num_layers_in_last_pipeline_stage",
                     {"num_layers 6 - num_layers_in_last_pipeline_stage 1", "3 pipeline ranks", "found 5"});
  EXPECT_EQ(all_problems(parse("  account_for_loss_in_pipeline_split: true\n", "7")), "");
}

TEST(SequenceLength, IsAMultipleOfWhatSharesItOut) {
  struct Case {
    const char* parallel;
    const char* seq_length;
    const char* says;  // empty: accepted
  };
  const Case cases[] = {
      {"  world_size: 4\n  tensor_model_parallel_size: 4\n", "258", ""},
      {"  world_size: 4\n  tensor_model_parallel_size: 4\n  sequence_parallel: true\n", "258",
       "a multiple of tensor_model_parallel_size 4, found 258: sequence_parallel shares"},
      {"  world_size: 4\n  context_parallel_size: 4\n", "260", "a multiple of chunks of a rank 2 * context_parallel_size 4, found 260"},
      {"  world_size: 4\n  context_parallel_size: 4\n", "264", ""},
      {"  world_size: 4\n  tensor_model_parallel_size: 2\n  context_parallel_size: 2\n  sequence_parallel: true\n", "260",
       "tensor_model_parallel_size 2 * chunks of a rank 2 * context_parallel_size 2, found 260: sequence_parallel and context parallelism"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.parallel);
    const auto parsed = parse_layout("llama3_70b", row.parallel, {{"training.seq_length", row.seq_length}});
    if (std::string(row.says).empty())
      EXPECT_EQ(all_problems(parsed), "");
    else
      expect_one_problem(parsed, "training.seq_length", {row.says});
  }
}

TEST(ModelFields, AreRefusedByTheRulesThatTheTrainerStatesOfThem) {
  struct Case {
    const char* preset;
    const char* parallel;
    std::vector<Override> overrides;
    const char* path;
    const char* says;
  };
  const Case cases[] = {
      {"llama3_70b",
       "  world_size: 16\n  tensor_model_parallel_size: 16\n",
       {},
       "parallel.tensor_model_parallel_size",
       "num_query_groups must be a multiple of tensor_model_parallel_size 16; found 8"},
      {"llama3_70b",
       "  world_size: 2\n",
       {{"model.num_attention_heads", "60"}},
       "model.num_attention_heads",
       "num_attention_heads must be a multiple of num_query_groups 8; found 60"},
      {"llama3_70b",
       "  world_size: 2\n  tensor_model_parallel_size: 2\n",
       {{"model.padded_vocab_size", "1001"}},
       "parallel.tensor_model_parallel_size",
       "padded_vocab_size must be a multiple of tensor_model_parallel_size 2; found 1001"},
      {"moonlight_16b",
       "  world_size: 2\n  tensor_model_parallel_size: 2\n",
       {{"model.moe_ffn_hidden_size", "33"}},
       "model.moe_ffn_hidden_size",
       "moe_ffn_hidden_size must be a multiple of expert_tensor_parallel_size 2; found 33"},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.says);
    std::vector<Override> overrides = row.overrides;
    overrides.push_back({"training.global_batch_size", "64"});
    expect_one_problem(parse_layout(row.preset, row.parallel, overrides), row.path, {row.says});
  }
}

TEST(Layout, IsRefusedAtTheOptionThatItsMessageSpeaksOf) {
  expect_one_problem(parse_layout("llama3_70b", "  world_size: 4\n  tensor_model_parallel_size: 3\n  expert_tensor_parallel_size: 1\n"),
                     "parallel.tensor_model_parallel_size", {});
  expect_one_problem(parse_layout("llama3_70b", "  world_size: 2\n  virtual_pipeline_model_parallel_size: 2\n"),
                     "parallel.virtual_pipeline_model_parallel_size", {"pipeline_model_parallel_size > 1"});
  expect_one_problem(parse_layout("llama3_70b", "  world_size: 2\n  account_for_loss_in_pipeline_split: true\n"),
                     "parallel.account_for_loss_in_pipeline_split", {"leave them out"});
}

TEST(Features, ThatTheTrainerListsAreTaken) {
  protocol::Describe trainer = splitting_trainer();
  const std::string text = sample_with("measure:", "features: {moe_shared_expert_overlap: true}\nmeasure:");
  EXPECT_NE(all_problems(parse_sweep(text, "s.yaml", trainer, {})).find("features.moe_shared_expert_overlap"), std::string::npos);
  trainer.optimizer_modes.insert(trainer.optimizer_modes.end(), {"moe_shared_expert_overlap=false", "moe_shared_expert_overlap=true"});
  EXPECT_EQ(all_problems(parse_sweep(text, "s.yaml", trainer, {})), "");
}

}  // namespace
}  // namespace rematch::spec
