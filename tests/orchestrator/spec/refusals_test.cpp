// One case a way in which a sweep can be wrong: the place, and what the message must say.
#include <gtest/gtest.h>

#include <array>

#include "tests/orchestrator/spec/sample.h"

namespace rematch::spec {
namespace {

struct Refusal {
  const char* name;
  const char* piece;
  const char* replacement;
  int line;
  int column;
  const char* path;
  std::vector<const char*> says;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

class ASweep : public testing::TestWithParam<Refusal> {};

TEST_P(ASweep, IsRefusedWithOneMessageThatSaysWhereAndWhatIsAllowed) {
  const Refusal& wanted = GetParam();
  const ParsedSweep parsed = parse_sample(sample_with(wanted.piece, wanted.replacement));
  ASSERT_EQ(parsed.problems.size(), 1u) << all_problems(parsed);
  const Diagnostic& found = parsed.problems.front();
  EXPECT_EQ(found.file, "s.yaml");
  EXPECT_EQ(found.line, wanted.line) << to_string(found);
  EXPECT_EQ(found.column, wanted.column) << to_string(found);
  EXPECT_EQ(found.path, wanted.path);
  for (const char* words : wanted.says) EXPECT_NE(found.message.find(words), std::string::npos) << words << "\nin: " << found.message;
}

const char* const kControl = "{recompute_granularity: selective, recompute_modules: []}";

const std::vector<Refusal> kRecomputeRefusals = {
    {"no_control",
     "  control: {recompute_granularity: selective, recompute_modules: []}\n",
     "",
     16,
     1,
     "recompute.control",
     {"no control", "control: {recompute_granularity: selective, recompute_modules: []}"}},
    {"null_control", kControl, "null", 17, 12, "recompute.control", {"no control", "recompute_modules: []"}},
    {"modules_unset",
     kControl,
     "{recompute_granularity: selective}",
     17,
     12,
     "recompute.control.recompute_modules",
     {"unset", "[core_attn]", "recompute_modules: []"}},
    {"modules_null",
     kControl,
     "{recompute_granularity: selective, recompute_modules: null}",
     17,
     66,
     "recompute.control.recompute_modules",
     {"unset", "[core_attn]"}},
    {"control_not_empty",
     kControl,
     "{recompute_granularity: selective, recompute_modules: [moe]}",
     17,
     66,
     "recompute.control.recompute_modules",
     {"must recompute nothing", "[moe]"}},
    {"control_full",
     kControl,
     "{recompute_granularity: full}",
     17,
     36,
     "recompute.control.recompute_granularity",
     {"selective or null", "'full'"}},
    {"control_without_granularity",
     kControl,
     "{recompute_modules: []}",
     17,
     12,
     "recompute.control.recompute_granularity",
     {"must say its granularity"}},
    {"unknown_label",
     "[moe_act, mlp]",
     "[moe_atc, mlp]",
     18,
     12,
     "recompute.labels",
     {"'moe_atc' is not a label of Megatron Core 24bad8e6", "did you mean 'moe_act'?", "core_attn", "gdn_norm_out"}},
    {"unknown_label_in_a_set", "[[layernorm, moe_act]]", "[[layernorm, mhc]]", 19, 22, "recompute.sets[0]", {"'mhc'", "core_attn"}},
    {"label_twice_in_a_set", "[[layernorm, moe_act]]", "[[moe, moe]]", 19, 16, "recompute.sets[0]", {"twice"}},
    {"same_arm_twice",
     "[[layernorm, moe_act]]",
     "[[layernorm, moe_act], [moe_act, layernorm]]",
     19,
     32,
     "recompute.sets[1]",
     {"moe_act+layernorm", "same setting", "line 19"}},
    {"label_again_as_a_set", "[[layernorm, moe_act]]", "[[mlp]]", 19, 10, "recompute.sets[0]", {"same setting", "line 18"}},
    {"empty_set", "[[layernorm, moe_act]]", "[[]]", 19, 10, "recompute.sets[0]", {"empty set is the control"}},
    {"set_without_inner_list", "[[layernorm, moe_act]]", "[layernorm]", 19, 10, "recompute.sets[0]", {"wanted a list of labels"}},
    {"full_method",
     "  labels:",
     "  full: [{recompute_method: spiral, recompute_num_layers: 1}]\n  labels:",
     18,
     29,
     "recompute.full[0].recompute_method",
     {"G2", "uniform or block", "'spiral'"}},
    {"full_of_no_layer",
     "  labels:",
     "  full: [{recompute_method: block, recompute_num_layers: 0}]\n  labels:",
     18,
     58,
     "recompute.full[0].recompute_num_layers",
     {"R2 (ours)", ">= 1", "'0'"}},
    {"full_unknown_key",
     "  labels:",
     "  full: [{recompute_method: block, num_layers: 1}]\n  labels:",
     18,
     36,
     "recompute.full[0].num_layers",
     {"'num_layers' is not a key of recompute.full[0]", "recompute_num_layers"}},
    {"full_word_in_a_file",
     "  labels:",
     "  full: [uniform:1]\n  labels:",
     18,
     10,
     "recompute.full[0]",
     {"{recompute_method: uniform", "'uniform:1'"}},
    {"full_map", "  labels:", "  full: {recompute_method: uniform}\n  labels:", 18, 9, "recompute.full", {"a list of settings", "a map"}},
    {"full_twice",
     "  labels:",
     "  full: [{recompute_method: block, recompute_num_layers: 1}, {recompute_method: block, recompute_num_layers: 1, recompute_modules: "
     "[moe]}]\n"
     "  labels:",
     18,
     62,
     "recompute.full[1]",
     {"full:block:1", "same setting", "line 18"}},
    {"full_modules",
     "  labels:",
     "  full: [{recompute_method: block, recompute_num_layers: 1, recompute_modules: moe}]\n  labels:",
     18,
     80,
     "recompute.full[0].recompute_modules",
     {"a list of labels"}},
    {"label_of_another_revision",
     "  labels: [moe_act, mlp]",
     "  core_revision: 0.16.1\n  labels: [moe_act, gdn_norm_out]",
     19,
     21,
     "recompute.labels",
     {"L1", "'gdn_norm_out' is not a label of Megatron Core 0.16.1", "shared_experts"}},
    {"distribute_of_a_control",
     kControl,
     "{recompute_granularity: selective, recompute_modules: [], distribute_saved_activations: 2}",
     17,
     100,
     "recompute.control.distribute_saved_activations",
     {"true or false"}},
    {"core_revision",
     "  labels:",
     "  core_revision: abcdef0\n  labels:",
     18,
     18,
     "recompute.core_revision",
     {"'abcdef0'", "24bad8e6", "0.16.1", "main"}},
};

const std::vector<Refusal> kKeyRefusals = {
    {"unknown_key",
     "train_iters: 20",
     "train_iters: 20\n  train_iter: 3",
     12,
     3,
     "training.train_iter",
     {"'train_iter' is not a key of training", "did you mean 'train_iters'?"}},
    {"unknown_section", "measure:", "mesure: {}\nmeasure:", 20, 1, "mesure", {"did you mean 'measure'?"}},
    {"unknown_model_field", "  hidden_size", "  hiden_size", 6, 3, "model.hiden_size", {"family mla_moe", "did you mean 'hidden_size'?"}},
    {"missing_unit_of_time", "timeout: 90s", "timeout: 90", 21, 32, "launch.timeout", {"ms, s, min, h", "'90'"}},
    {"wrong_unit_of_time", "timeout: 90s", "timeout: 90GB", 21, 32, "launch.timeout", {"ms, s, min, h", "'90GB'"}},
    {"wrong_unit_of_size", "memory_limit: 2GiB", "memory_limit: 2Gb", 15, 56, "backend.memory_limit", {"KiB, MiB, GiB, TiB", "'2Gb'"}},
    {"missing_unit_of_size", "memory_limit: 2GiB", "memory_limit: 2", 15, 56, "backend.memory_limit", {"GiB", "'2'"}},
    {"missing_percent", "smallest_effect: 3%", "smallest_effect: 3", 20, 39, "measure.smallest_effect", {"percentage", "'3'"}},
    {"text_for_a_number", "seq_length: 256", "seq_length: \"256\"", 8, 15, "training.seq_length", {"an integer", "the string '256'"}},
    {"out_of_range", "seq_length: 256", "seq_length: 0", 8, 15, "training.seq_length", {"from 1 to", "'0'"}},
    {"field_out_of_range", "hidden_size: 256", "hidden_size: 0", 6, 16, "model.hidden_size", {"an integer >= 1", "'0'"}},
    {"field_of_another_type", "hidden_size: 256", "hidden_size: wide", 6, 16, "model.hidden_size", {"an integer", "'wide'"}},
    {"field_not_allowed",
     "hidden_size: 256",
     "moe_router_score_function: tanh",
     6,
     30,
     "model.moe_router_score_function",
     {"one of sigmoid, softmax", "'tanh'"}},
    {"unknown_preset", "moonlight_16b", "moonlight", 4, 11, "model.preset", {"'moonlight'", "moonlight_16b"}},
    {"no_model",
     "model:\n  preset: moonlight_16b\n  num_layers: 4\n  hidden_size: 256\n",
     "",
     1,
     1,
     "model",
     {"`preset` (moonlight_16b)", "`family` (mla_moe)"}},
    {"missing_key", "  train_iters: 20\n", "", 7, 1, "training.train_iters", {"required", "an integer from 1"}},
    {"duplicate_key", "  train_iters: 20", "  train_iters: 20\n  train_iters: 21", 12, 3, "training.train_iters", {"twice", "line 11"}},
    {"list_for_a_section", "measure: {blocks: 2, smallest_effect: 3%}", "measure: [1]", 20, 10, "measure", {"a map", "a list"}},
    {"blocks_by_word", "blocks: 2", "blocks: some", 20, 19, "measure.blocks", {"an integer from 1 to 1000 or auto", "'some'"}},
    {"strategy", "launch:", "strategy: {kind: pair}\nlaunch:", 21, 18, "strategy.kind", {"one_label, pairs, escalate", "'pair'"}},
    {"escalate_without_a_budget",
     "launch:",
     "strategy: {kind: escalate}\nlaunch:",
     21,
     18,
     "strategy.kind",
     {"cheapest setting within a budget", "budget: {per_rank_memory: 80GB}"}},
    {"escalate_with_blocks_auto",
     "measure: {blocks: 2",
     "strategy: {kind: escalate}\nbudget: {per_rank_memory: 1GB}\nmeasure: {blocks: auto",
     22,
     19,
     "measure.blocks",
     {"one_label and pairs"}},
    {"launch_kind", "kind: local", "kind: pbs", 21, 16, "launch.kind", {"local, slurm", "'pbs'"}},
    {"name_with_a_slash", "name: sample", "name: a/b", 2, 7, "name", {"names a folder", "'a/b'"}},
    {"another_schema", "rematch/sweep/1", "rematch/sweep/9", 1, 9, "schema", {"rematch/sweep/1"}},
};

const std::vector<Refusal> kLayoutRefusals = {
    {"degree_that_does_not_divide",
     "expert_model_parallel_size: 2",
     "expert_model_parallel_size: 3",
     14,
     31,
     "parallel.expert_model_parallel_size",
     {"a multiple of", "expert_model_parallel_size 3", "found 2"}},
    {"experts",
     "hidden_size: 256",
     "num_moe_experts: 9",
     14,
     31,
     "parallel.expert_model_parallel_size",
     {"num_moe_experts must be a multiple of expert_model_parallel_size 2; found 9"}},
    {"batch",
     "global_batch_size: 4",
     "global_batch_size: 3",
     10,
     22,
     "training.global_batch_size",
     {"micro_batch_size 1 * data_parallel_size 2", "found 3"}},
    {"topk",
     "hidden_size: 256",
     "moe_router_topk: 65",
     6,
     20,
     "model.moe_router_topk",
     {"moe_router_topk must be at most num_moe_experts 64; found 65"}},
    {"sequence_parallel_alone",
     "expert_model_parallel_size: 2",
     "sequence_parallel: true",
     14,
     22,
     "parallel.sequence_parallel",
     {"tensor_model_parallel_size > 1", "write false"}},
    {"null_is_no_degree",
     "expert_model_parallel_size: 2",
     "expert_model_parallel_size: null",
     14,
     31,
     "parallel.expert_model_parallel_size",
     {"an integer"}},
    {"cp_comm_type",
     "expert_model_parallel_size: 2",
     "cp_comm_type: a2a",
     14,
     17,
     "parallel.cp_comm_type",
     {"not available yet", "p2p, all_gather"}},
    {"collective_timeout",
     "timeout: 90s",
     "timeout: 90s, collective_timeout: 90s",
     21,
     57,
     "launch.collective_timeout",
     {"less than timeout (90s)", "found 90s", "half of timeout"}},
    {"axis",
     "expert_model_parallel_size: 2",
     "tensor_model_parallel_size: 2",
     14,
     31,
     "parallel.tensor_model_parallel_size",
     {"cannot split", "expert_model_parallel_size"}},
    {"too_few_layer_kinds", "hidden_size: 256", "moe_layer_freq: [0, 1]", 6, 19, "model.moe_layer_freq", {"4 layers", "a list of 2"}},
    {"layer_kind",
     "hidden_size: 256",
     "moe_layer_freq: [0, 1, 2, 1]",
     6,
     19,
     "model.moe_layer_freq",
     {"[2]", "0 to 1 (dense, moe)", "found 2"}},
    {"too_few_steps", "train_iters: 20", "train_iters: 11", 11, 16, "training.train_iters", {"2 + 10", "found 11"}},
    {"ranks_per_node",
     "timeout: 90s",
     "ranks_per_node: 1",
     21,
     39,
     "launch.ranks_per_node",
     {"world_size (2)", "launch.kind: slurm", "several hosts", "rematch-train --trial", "MASTER_ADDR"}},
    {"device", "device: cpu", "device: cuda", 15, 19, "backend.device", {"'cuda'", "cpu"}},
    {"attention", "attention: fused", "attention: flash", 15, 35, "backend.attention", {"'flash'", "fused, unfused"}},
    {"optimizer_mode",
     "measure:",
     "optimizer: {use_distributed_optimizer: false}\nmeasure:",
     20,
     40,
     "optimizer.use_distributed_optimizer",
     {"true only", "found false"}},
    {"optimizer_mode_by_name",
     "measure:",
     "optimizer: {fp8_recipe: tensorwise}\nmeasure:",
     20,
     25,
     "optimizer.fp8_recipe",
     {"null only", "found tensorwise"}},
    {"moments_without_their_optimizer",
     "measure:",
     "optimizer: {exp_avg_dtype: bf16}\nmeasure:",
     20,
     28,
     "optimizer.exp_avg_dtype",
     {"without use_precision_aware_optimizer", "found 'bf16'"}},
    {"moments_of_a_later_trainer",
     "measure:",
     "optimizer: {exp_avg_dtype: fp8}\nmeasure:",
     20,
     28,
     "optimizer.exp_avg_dtype",
     {"not available yet", "fp32, bf16"}},
    {"feature",
     "measure:",
     "features: {moe_shared_expert_overlap: true}\nmeasure:",
     20,
     39,
     "features.moe_shared_expert_overlap",
     {"false only", "found true"}},
};

std::string name_of(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Recompute, ASweep, testing::ValuesIn(kRecomputeRefusals), name_of);
INSTANTIATE_TEST_SUITE_P(Keys, ASweep, testing::ValuesIn(kKeyRefusals), name_of);
INSTANTIATE_TEST_SUITE_P(Layout, ASweep, testing::ValuesIn(kLayoutRefusals), name_of);

TEST(SyntaxError, IsRefusedWithItsPosition) {
  const ParsedSweep parsed = parse_sample("schema: rematch/sweep/1\nname: [a, b\n");
  ASSERT_EQ(parsed.problems.size(), 1u) << all_problems(parsed);
  EXPECT_EQ(parsed.problems[0].line, 3);
  EXPECT_NE(parsed.problems[0].message.find("not valid YAML"), std::string::npos);
}

TEST(EmptyFile, IsRefusedWithWhatASweepStartsWith) {
  const ParsedSweep parsed = parse_sample("# nothing\n");
  ASSERT_EQ(parsed.problems.size(), 1u) << all_problems(parsed);
  EXPECT_NE(parsed.problems[0].message.find("schema: rematch/sweep/1"), std::string::npos);
}

TEST(TwoDocuments, AreRefused) {
  const ParsedSweep parsed = parse_sample(kSampleSweep + "---\na: 1\n");
  ASSERT_EQ(parsed.problems.size(), 1u) << all_problems(parsed);
  EXPECT_NE(parsed.problems[0].message.find("one YAML document wanted, found another"), std::string::npos);
}

TEST(StrayComma, IsRefusedAtOnceWhereverItStands) {
  for (const std::string& text : {std::string(","), std::string("\"rematch\",\n"), kSampleSweep + ",", "[a]\n,\n" + kSampleSweep})
    EXPECT_FALSE(parse_sample(text).problems.empty()) << text;
}

TEST(AliasesOfAliases, CannotMakeASmallFileExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 7; ++level) {
    const std::string below = "*a" + std::to_string(level - 1);
    text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [";
    for (int copy = 0; copy < 10; ++copy) text += (copy > 0 ? ", " : "") + below;
    text += "]\n";
  }
  EXPECT_NE(all_problems(parse_sample(text)).find("more than 100000 values"), std::string::npos);
}

}  // namespace
}  // namespace rematch::spec
