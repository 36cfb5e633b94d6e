#include "orchestrator/spec/sweep.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/spec/sample.h"

namespace rematch::spec {
namespace {

std::vector<std::string> arms_of(const ParsedSweep& parsed) {
  std::vector<std::string> arms;
  for (const auto& candidate : parsed.spec.candidates) arms.push_back(candidate.arm);
  return arms;
}

TEST(ParseSweep, ReadsEverySectionOfAValidSweep) {
  const ParsedSweep parsed = parse_sample(kSampleSweep);
  ASSERT_EQ(all_problems(parsed), "");
  const SweepSpec& spec = parsed.spec;
  EXPECT_EQ(spec.common.study, "sample");
  EXPECT_EQ(spec.common.training.global_batch_size, 4);
  EXPECT_EQ(spec.common.parallel.expert_model_parallel_size, 2);
  EXPECT_EQ(spec.common.backend.memory_limit_bytes, 2LL << 30);
  EXPECT_EQ(spec.common.timeout_ms, 90'000);
  EXPECT_DOUBLE_EQ(spec.smallest_effect, 0.03);
  EXPECT_EQ(spec.num_blocks, 2);
  EXPECT_EQ(spec.control.recompute_granularity, "selective");
  EXPECT_EQ(spec.control.recompute_modules, std::vector<std::string>{});
  ASSERT_EQ(spec.candidates.size(), 3u);
  EXPECT_EQ(spec.candidates[2].arm, "layernorm+moe_act");
  EXPECT_EQ(spec.candidates[2].recompute.recompute_modules, (std::vector<std::string>{"layernorm", "moe_act"}));
}

TEST(ParseSweep, FillsKeysThatAreNotWrittenWithTheirDefaults) {
  const ParsedSweep parsed = parse_sample(sample_with("measure: {blocks: 2, smallest_effect: 3%}\n", ""));
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.num_blocks, 3);
  EXPECT_EQ(parsed.spec.common.measure.warmup_steps, 2);
  EXPECT_EQ(parsed.spec.common.measure.steady_steps, 10);
  EXPECT_DOUBLE_EQ(parsed.spec.smallest_effect, 0.02);
  EXPECT_EQ(parsed.spec.common.training.seed, 1234);
  EXPECT_TRUE(parsed.spec.common.optimizer.use_distributed_optimizer);
  EXPECT_EQ(parsed.spec.order_seed, std::nullopt);
  EXPECT_EQ(parsed.spec.common.recompute.core_revision, "24bad8e6");
}

TEST(ParseSweep, LaysTheFileOverThePresetAndRecordsWhatItChanged) {
  const auto& model = parse_sample(sample_with("  hidden_size: 256", "  hidden_size: 256\n  ffn_hidden_size: 11264")).spec.common.model;
  EXPECT_EQ(model.preset, "moonlight_16b");
  EXPECT_EQ(model.family, "mla_moe");
  EXPECT_EQ(std::get<std::int64_t>(model.fields.at("hidden_size")), 256);
  EXPECT_EQ(std::get<std::int64_t>(model.fields.at("kv_lora_rank")), 512);
  EXPECT_EQ(model.overridden, (std::vector<std::string>{"hidden_size", "num_layers"}));  // the ffn size is the preset's own
}

TEST(ParseSweep, AppliesOptionsOverTheFileWhateverTheirSection) {
  const ParsedSweep parsed = parse_sample(kSampleSweep, {{"training.seed", "7"},
                                                         {"model.num_layers", "2"},
                                                         {"recompute.labels", "moe,core_attn"},
                                                         {"recompute.sets", "layernorm+moe_act;mla_up_proj+mlp"},
                                                         {"launch.timeout", "2min"}});
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.common.training.seed, 7);
  EXPECT_EQ(std::get<std::int64_t>(parsed.spec.common.model.fields.at("num_layers")), 2);
  EXPECT_EQ(parsed.spec.common.timeout_ms, 120'000);
  EXPECT_EQ(arms_of(parsed), (std::vector<std::string>{"moe", "core_attn", "layernorm+moe_act", "mla_up_proj+mlp"}));
}

TEST(ParseSweep, NamesTheOptionWhoseValueIsWrong) {
  const ParsedSweep parsed = parse_sample(kSampleSweep, {{"training.train_iters", "many"}});
  EXPECT_EQ(all_problems(parsed),
            "--set training.train_iters=many: training.train_iters: wanted an integer from 1 to 1000000000; found 'many'\n");
}

TEST(ParseSweep, RemembersWhereEachValueCameFrom) {
  const ParsedSweep parsed = parse_sample(kSampleSweep, {{"training.seed", "7"}});
  const auto origin_of = [&](const std::string& key) {
    for (const auto& row : parsed.spec.origins)
      if (row.key == key) return row.value + " from " + row.origin;
    return std::string("no row");
  };
  EXPECT_EQ(origin_of("training.seed"), "7 from --set training.seed=7");
  EXPECT_EQ(origin_of("training.seq_length"), "256 from s.yaml:8:15");
  EXPECT_EQ(origin_of("model.hidden_size"), "256 from s.yaml:6:16");
  EXPECT_EQ(origin_of("model.kv_lora_rank"), "512 from preset moonlight_16b");
  EXPECT_EQ(origin_of("optimizer.lr"), "3e-04 from default");
  EXPECT_EQ(origin_of("launch.timeout"), "90s from s.yaml:21:32");
  EXPECT_EQ(origin_of("backend.memory_limit"), "2GiB from s.yaml:15:56");
}

TEST(ParseSweep, MakesEveryApplicableLabelACandidate) {
  const ParsedSweep parsed =
      parse_sample(sample_with("  labels: [moe_act, mlp]\n  sets: [[layernorm, moe_act]]\n", "  labels: applicable\n"),
                   {{"model.moe_layer_freq", "1,1,1,1"}});
  ASSERT_EQ(all_problems(parsed), "");
  // mlp has no dense layer to sit in, gdn_norm_out no gated delta net.
  EXPECT_EQ(arms_of(parsed), (std::vector<std::string>{"core_attn", "mla_up_proj", "layernorm", "moe_act", "moe", "shared_experts"}));
}

const std::string kFull =
    "  full:\n    - {recompute_method: uniform, recompute_num_layers: 1}\n    - {recompute_method: block, recompute_num_layers: 2}\n";

TEST(ParseSweep, MakesEachFullSettingAnArm) {
  const ParsedSweep parsed = parse_sample(sample_with("  labels:", kFull + "  labels:"));
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(arms_of(parsed), (std::vector<std::string>{"moe_act", "mlp", "layernorm+moe_act", "full:uniform:1", "full:block:2"}));
  const Candidate& block = parsed.spec.candidates.back();
  EXPECT_EQ(block.recompute.recompute_granularity, "full");
  EXPECT_EQ(block.recompute.recompute_modules, std::nullopt);
  EXPECT_EQ(block.recompute.recompute_method, "block");
  EXPECT_EQ(block.recompute.recompute_num_layers, 2);
  EXPECT_EQ(block.recompute.core_revision, "24bad8e6");
  EXPECT_EQ(block.place.line, 20);
}

TEST(ParseSweep, KeepsLabelsThatAFullSettingNamesInVain) {
  const std::string full = "  full: [{recompute_method: block, recompute_num_layers: 1, recompute_modules: [any, name]}]\n";
  const ParsedSweep parsed = parse_sample(sample_with("  labels:", full + "  labels:"));
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.candidates.back().recompute.recompute_modules, (std::vector<std::string>{"any", "name"}));
}

TEST(ParseSweep, TakesFullSettingsFromAnOption) {
  const auto arms_with = [](const std::string& value) {
    const ParsedSweep parsed =
        parse_sample(kSampleSweep, {{"recompute.labels", "[]"}, {"recompute.sets", "[]"}, {"recompute.full", value}});
    return all_problems(parsed).empty() ? arms_of(parsed) : std::vector<std::string>{all_problems(parsed)};
  };
  using Arms = std::vector<std::string>;
  EXPECT_EQ(arms_with("uniform:1,block:2"), (Arms{"full:uniform:1", "full:block:2"}));
  EXPECT_EQ(arms_with("[full:block:3, uniform:1:distributed]"), (Arms{"full:block:3", "full:uniform:1:distributed"}));
  EXPECT_EQ(arms_with("[{recompute_method: block, recompute_num_layers: 1}]"), Arms{"full:block:1"});
}

TEST(ParseSweep, TellsARevisionByTheTablesSpelling) {
  for (const auto& [written, resolved] : std::vector<std::pair<std::string, std::string>>{
           {"24bad8e677d22625d86ef2a54c9506b6e4992c93", "24bad8e6"}, {"0.16.1", "0.16.1"}, {"main", "d98e8a64"}, {"dev", "d48bd6be"}}) {
    const ParsedSweep parsed = parse_sample(kSampleSweep, {{"recompute.core_revision", written}});
    EXPECT_EQ(all_problems(parsed), "");
    EXPECT_EQ(parsed.spec.common.recompute.core_revision, resolved);
    EXPECT_EQ(parsed.spec.control.core_revision, resolved);
    EXPECT_EQ(parsed.spec.candidates.front().recompute.core_revision, resolved);
  }
}

TEST(ParseSweep, TakesEveryAttentionBackendOfTheTrainer) {
  const ParsedSweep parsed = parse_sample(sample_with("attention: fused", "attention: unfused"));
  EXPECT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.common.backend.attention, "unfused");
}

TEST(ParseSweep, FillsModelFieldsOfEveryTypeWithTheirDefaults) {
  const ParsedSweep dense = parse_preset("llama3_70b", "[mlp]");
  ASSERT_EQ(all_problems(dense), "");
  const auto& fields = dense.spec.common.model.fields;
  EXPECT_EQ(fields.at("qk_layernorm"), protocol::FieldValue(false));
  EXPECT_EQ(fields.at("activation"), protocol::FieldValue(std::string("swiglu")));
  EXPECT_EQ(fields.at("rotary_base"), protocol::FieldValue(500000.0));
  EXPECT_EQ(fields.at("kv_channels"), protocol::FieldValue{}) << "nullable, and its default is null";
  EXPECT_EQ(parse_preset("qwen3_next_80b", "[moe]").spec.common.model.fields.at("moe_grouped_gemm"), protocol::FieldValue(true));
}

TEST(ParseSweep, LaysNullOverANullableFieldThatHasADefault) {
  const ParsedSweep parsed = parse_preset("nemotron_3_nano", "[moe]", {{"model.moe_shared_expert_intermediate_size", "null"}});
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.common.model.fields.at("moe_shared_expert_intermediate_size"), protocol::FieldValue{});
}

TEST(ParseSweep, FindsTheApplicableLabelsOfEveryFamily) {
  using Arms = std::vector<std::string>;
  EXPECT_EQ(arms_of(parse_preset("llama3_70b", "applicable")), (Arms{"core_attn", "mlp"}));
  EXPECT_EQ(arms_of(parse_preset("nemotron_3_nano", "applicable")), (Arms{"core_attn", "layernorm", "moe_act", "moe", "shared_experts"}));
  EXPECT_EQ(arms_of(parse_preset("qwen3_next_80b", "applicable")),
            (Arms{"core_attn", "layernorm", "moe_act", "moe", "shared_experts", "gdn_norm_out"}));
}

TEST(ParseSweep, RefusesALayerPatternThatDoesNotFitTheLayers) {
  const ParsedSweep parsed = parse_preset("nemotron_3_nano", "[moe]", {{"model.num_layers", "53"}});
  EXPECT_NE(all_problems(parsed).find("hybrid_layer_pattern[52]: wanted one character (M, E, *, -) for each of the 53 layers"),
            std::string::npos)
      << all_problems(parsed);
}

TEST(ParseSweep, TakesJsonToo) {
  const ParsedSweep parsed = parse_sample(R"({"schema": "rematch/sweep/1", "name": "j", "model": {"preset": "moonlight_16b"},
    "training": {"seq_length": 8, "micro_batch_size": 1, "global_batch_size": 1, "train_iters": 12}, "parallel": {"world_size": 1},
    "recompute": {"control": {"recompute_granularity": null}, "labels": ["moe"]}})");
  EXPECT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.control.recompute_granularity, std::nullopt);
}

TEST(ParseSweep, TellsEveryProblemInOneGoInTheOrderOfTheFile) {
  std::string text = sample_with("seq_length: 256", "seq_length: none");
  text = sample_with("timeout: 90s", "timeout: 90", text);
  text = sample_with("hidden_size", "hiden_size", text);
  text = sample_with("[moe_act, mlp]", "[moe_atc, mlp]", text);
  const ParsedSweep parsed = parse_sample(text);
  std::vector<int> lines;
  for (const auto& problem : parsed.problems) lines.push_back(problem.line);
  EXPECT_EQ(lines, (std::vector<int>{6, 8, 18, 21})) << all_problems(parsed);
}

}  // namespace
}  // namespace rematch::spec
