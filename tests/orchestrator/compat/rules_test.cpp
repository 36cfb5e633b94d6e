#include "orchestrator/compat/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/orchestrator/compat/settings.h"

namespace rematch::compat {
namespace {

struct Case {
  const char* name;
  void (*change)(protocol::Trial&, protocol::FamilyDescription&);
  std::vector<std::string> ids;  // of all rules that must hold, and no other
};

void PrintTo(const Case& row, std::ostream* stream) { *stream << row.name; }

void select(protocol::Trial& trial, std::vector<std::string> labels) { trial.recompute.recompute_modules = std::move(labels); }

void full(protocol::Trial& trial, std::optional<std::string> method, std::optional<std::int64_t> num_layers) {
  trial.recompute = {.recompute_granularity = "full",
                     .recompute_method = std::move(method),
                     .recompute_num_layers = num_layers,
                     .core_revision = "24bad8e6"};
}

void distribute(protocol::Trial& trial, std::int64_t num_ranks) {
  trial.recompute.distribute_saved_activations = true;
  trial.parallel.tensor_model_parallel_size = num_ranks;
  trial.model.fields["moe_layer_freq"] = std::vector<std::int64_t>{0, 0, 0, 0};
}

void split_tensor(protocol::Trial& trial, bool sequence_parallel) {
  trial.parallel.tensor_model_parallel_size = 2;
  trial.parallel.sequence_parallel = sequence_parallel;
}

void split_context(protocol::Trial& trial, const char* attention = "fused") {
  trial.parallel.context_parallel_size = 2;
  trial.backend.attention = attention;
}

void add_gdn(protocol::FamilyDescription& family) {
  for (const char* label : {"gdn", "gdn_norm_out"}) family.labels.push_back({label, {{"moe", 1}}, {}, ""});
}

void revision(protocol::Trial& trial, const char* core_revision) { trial.recompute.core_revision = core_revision; }

// The family of the settings has one dense and three MoE layers with multi-latent attention and shared experts.
const std::vector<Case> kCases = {
    {"empty_control", [](auto&, auto&) {}, {}},
    {"plain_label", [](auto& t, auto&) { select(t, {"moe_act"}); }, {}},
    {"full_without_method", [](auto& t, auto&) { full(t, {}, 1); }, {"G3"}},
    {"full_without_count", [](auto& t, auto&) { full(t, "block", {}); }, {"G4"}},
    {"full_complete", [](auto& t, auto&) { full(t, "block", 4); }, {}},
    {"full_with_labels", [](auto& t, auto&) { full(t, "uniform", 1), select(t, {"moe_atc"}); }, {"G9"}},
    {"full_with_an_empty_list", [](auto& t, auto&) { full(t, "uniform", 1), select(t, {}); }, {}},
    {"full_of_more_layers_than_there_are", [](auto& t, auto&) { full(t, "block", 5); }, {"R2"}},
    {"full_of_more_layers_than_a_chunk_has",
     [](auto& t, auto&) { full(t, "block", 3), t.parallel.pipeline_model_parallel_size = 2; },
     {"R2"}},
    {"full_of_a_whole_chunk", [](auto& t, auto&) { full(t, "block", 2), t.parallel.pipeline_model_parallel_size = 2; }, {}},
    {"full_of_no_layer", [](auto& t, auto&) { full(t, "uniform", 0); }, {"R2"}},
    {"full_with_offloading", [](auto& t, auto&) { full(t, "uniform", 1), t.features.cpu_offloading = true; }, {"O2"}},
    {"full_distributed", [](auto& t, auto&) { full(t, "uniform", 1), distribute(t, 2); }, {}},
    {"full_distributed_over_one_rank", [](auto& t, auto&) { full(t, "uniform", 1), distribute(t, 1); }, {"G8"}},
    {"full_distributed_without_method", [](auto& t, auto&) { full(t, {}, 1), distribute(t, 2); }, {"G3", "G8"}},
    {"selective_distributed", [](auto& t, auto&) { distribute(t, 2); }, {"G8"}},
    {"full_distributed_under_sequence_parallelism",
     [](auto& t, auto&) { full(t, "uniform", 1), distribute(t, 2), split_tensor(t, true); },
     {"G7"}},
    {"distributed_without_granularity",
     [](auto& t, auto&) { distribute(t, 2), split_tensor(t, true), t.recompute.recompute_granularity.reset(); },
     {"G8"}},
    {"experts_under_tensor_parallelism", [](auto& t, auto&) { split_tensor(t, false); }, {"M5"}},
    {"experts_under_sequence_parallelism", [](auto& t, auto&) { split_tensor(t, true); }, {}},
    {"dense_layers_under_tensor_parallelism",
     [](auto& t, auto&) {
       split_tensor(t, false), t.model.fields["moe_layer_freq"] = std::vector<std::int64_t>{0, 0, 0, 0};
     },
     {}},
    {"context_parallel", [](auto& t, auto&) { split_context(t), select(t, {"moe_act"}); }, {}},
    {"context_parallel_unfused", [](auto& t, auto&) { split_context(t, "unfused"); }, {"R4"}},
    {"unfused_without_context_parallelism", [](auto& t, auto&) { t.backend.attention = "unfused"; }, {}},
    {"core_attn_under_context_parallelism", [](auto& t, auto&) { split_context(t), select(t, {"core_attn"}); }, {"L5", "X1"}},
    {"gdn_norm_out_under_context_parallelism", [](auto& t, auto& f) { split_context(t), add_gdn(f), select(t, {"gdn_norm_out"}); }, {"X1"}},
    {"gdn_norm_out_without_a_site_under_context_parallelism",
     [](auto& t, auto&) { split_context(t), select(t, {"gdn_norm_out"}); },
     {"L4", "L8"}},
    {"layers_that_an_axis_does_not_split",
     [](auto& t, auto& f) { split_context(t), f.unsplit_kinds["context_parallel_size"] = {"moe"}; },
     {"R3"}},
    {"layers_that_another_axis_does_not_split",
     [](auto& t, auto& f) { split_context(t), f.unsplit_kinds["tensor_model_parallel_size"] = {"moe"}; },
     {}},
    {"selective_with_method", [](auto& t, auto&) { t.recompute.recompute_method = "block"; }, {"G6"}},
    {"selective_with_count", [](auto& t, auto&) { t.recompute.recompute_num_layers = 1; }, {"G5"}},
    {"unknown_label", [](auto& t, auto&) { select(t, {"mhc"}); }, {"L1", "L8"}},
    {"labels_under_null_granularity_are_inert", [](auto& t, auto&) { select(t, {"mhc"}), t.recompute.recompute_granularity.reset(); }, {}},
    {"moe_act_without_grouped_gemm", [](auto& t, auto&) { select(t, {"moe_act"}), t.model.fields["moe_grouped_gemm"] = false; }, {"L2"}},
    {"moe_act_without_the_flag", [](auto& t, auto&) { select(t, {"moe_act"}), t.model.fields.erase("moe_grouped_gemm"); }, {"L2"}},
    {"moe_act_with_the_flag_and_no_experts", [](auto& t, auto& f) { select(t, {"moe_act"}), drop_label(f, "moe_act"); }, {"L8"}},
    {"mla_up_proj_without_mla", [](auto& t, auto& f) { select(t, {"mla_up_proj"}), drop_label(f, "mla_up_proj"); }, {"L3", "L8"}},
    {"gdn_norm_out_without_gdn", [](auto& t, auto&) { select(t, {"gdn_norm_out"}); }, {"L4", "L8"}},
    {"gdn_norm_out_in_a_revision_that_has_none", [](auto& t, auto&) { select(t, {"gdn_norm_out"}), revision(t, "0.16.1"); }, {"L1", "L8"}},
    {"gdn_beside_gdn_norm_out",
     [](auto& t, auto& f) {
       select(t, {"gdn", "gdn_norm_out"}), add_gdn(f), revision(t, "dev");
     },
     {"L9", "R1"}},
    {"label_without_a_unit",
     [](auto& t, auto&) {
       select(t, {"moe", "mhc"}), revision(t, "d98e8a64");
     },
     {"L8", "R1"}},
    {"core_attn", [](auto& t, auto&) { select(t, {"core_attn"}); }, {"L5"}},
    {"shared_experts_overlapped",
     [](auto& t, auto&) { select(t, {"shared_experts"}), t.features.moe_shared_expert_overlap = true; },
     {"L6"}},
    {"overlap_alone", [](auto& t, auto&) { t.features.moe_shared_expert_overlap = true; }, {}},
    {"overlap_of_none",
     [](auto& t, auto&) {
       t.features.moe_shared_expert_overlap = true, t.model.fields["moe_shared_expert_intermediate_size"] = std::int64_t{0};
     },
     {"R5"}},
    {"shared_experts_without_one",
     [](auto& t, auto&) { select(t, {"shared_experts"}), t.model.fields["moe_shared_expert_intermediate_size"] = std::int64_t{0}; },
     {"L7"}},
    {"mlp_without_dense_layer",
     [](auto& t, auto&) {
       select(t, {"mlp"}), t.model.fields["moe_layer_freq"] = std::vector<std::int64_t>{1, 1, 1, 1};
     },
     {"L8"}},
    {"offloading_with_an_empty_selective_list", [](auto& t, auto&) { t.features.cpu_offloading = true; }, {"O2"}},
    {"offloading_with_null", [](auto& t, auto&) { t.features.cpu_offloading = true, t.recompute.recompute_granularity.reset(); }, {}},
};

class ASetting : public testing::TestWithParam<Case> {};

TEST_P(ASetting, MeetsTheseRulesAndNoOther) {
  auto trial = sample_setting();
  auto family = sample_family();
  GetParam().change(trial, family);
  std::vector<std::string> found;
  for (const auto& violation : violations({trial, family, sample_trainer()})) {
    found.push_back(violation.id);
    EXPECT_FALSE(violation.reason.empty());
  }
  EXPECT_EQ(found, GetParam().ids);
}

INSTANTIATE_TEST_SUITE_P(Table, ASetting, testing::ValuesIn(kCases), [](const auto& row) { return std::string(row.param.name); });

std::vector<std::string> ids_of(const protocol::Trial& trial) {
  std::vector<std::string> ids;
  for (const auto& violation : violations({trial, sample_family(), sample_trainer()})) ids.push_back(violation.id);
  return ids;
}

TEST(Rules, ApplyByRevisionInAnySpelling) {
  auto trial = sample_setting();
  select(trial, {"mla_up_proj"});
  trial.recompute.recompute_num_layers = 1;
  for (const char* core_revision : {"0.16.1", "24bad8e677d22625d86ef2a54c9506b6e4992c93", "main", "d48bd6b"}) {
    revision(trial, core_revision);
    EXPECT_EQ(ids_of(trial), std::vector<std::string>{"G5"}) << core_revision;
  }
  revision(trial, "abcdef0");
  EXPECT_EQ(ids_of(trial), std::vector<std::string>{}) << "nothing is known of it";
}

TEST(Rules, OfOursAreToldByTheirIdOrTheirReason) {
  auto trial = sample_setting();
  full(trial, "block", 5);
  for (const auto& violation : violations({trial, sample_family(), sample_trainer()}))
    EXPECT_EQ(violation.origin == Origin::kOurs, violation.reason.starts_with("ours: ")) << violation.id;
}

TEST(Rules, ReadFieldsThatThereAre) {
  std::set<std::string> known = {"te_version",        "torch_version",   "recompute_activations",
                                 "backward_by_grad",  "cross_attention", "stage_input_requires_grad",
                                 "backend.attention", "trainer.families"};
  for (const MegatronField& field : megatron_fields()) known.emplace(field.name);
  for (const Rule& rule : rules()) {
    std::istringstream fields{std::string(rule.fields)};
    for (std::string field; std::getline(fields >> std::ws, field, ',');)
      EXPECT_TRUE(known.contains(field)) << key_of(rule) << " " << field;
  }
}

TEST(Rules, HaveOneRowAKey) {
  std::set<std::string> keys;
  for (const Rule& rule : rules()) EXPECT_TRUE(keys.insert(key_of(rule)).second) << key_of(rule);
}

std::string told(const protocol::Trial& trial, const protocol::FamilyDescription& family, const std::string& id) {
  for (const auto& violation : violations({trial, family, sample_trainer()}))
    if (violation.id == id) return to_string(violation);
  return "rule " + id + " does not hold";
}

void expect_told(const std::string& told, const std::vector<std::string>& words) {
  for (const auto& word : words) EXPECT_NE(told.find(word), std::string::npos) << word << "\nin: " << told;
}

TEST(ARule, NamesTheLabelsThatTheRevisionKnows) {
  auto trial = sample_setting();
  select(trial, {"moe", "gdn_norm_out"});
  revision(trial, "0.16.1");
  expect_told(told(trial, sample_family(), "L1"),
              {"(gdn_norm_out; 0.16.1 knows core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, shared_experts)"});
}

TEST(ARule, OfOursSaysSoAndNamesTheLabelsThatHaveAUnit) {
  auto trial = sample_setting();
  select(trial, {"gdp_qkv", "mhc"});
  revision(trial, "main");
  expect_told(told(trial, sample_family(), "R1"),
              {"R1: ours: ", "(gdp_qkv, mhc; labels that have one: core_attn, mla_up_proj, layernorm, ", "gdn_norm_out)"});
  full(trial, "block", 5);
  expect_told(told(trial, sample_family(), "R2"), {"R2: ours: ", "(wanted 1 to 4, found 5)"});
}

TEST(ARule, OfCoreAttnGivesTheReasonOfTheAttentionBackend) {
  auto trial = sample_setting();
  select(trial, {"core_attn"});
  trial.backend.attention = "fused";
  expect_told(told(trial, sample_family(), "L5"), {"backend.attention is fused: it recomputes"});
  trial.backend.attention = "unfused";
  expect_told(told(trial, sample_family(), "L5"), {"backend.attention is unfused: scores and probabilities are there"});
}

TEST(ARule, OfMoeActNamesTheFieldOfAFamilyThatHasExperts) {
  auto trial = sample_setting();
  select(trial, {"moe_act"});
  trial.model.fields["moe_grouped_gemm"] = false;
  expect_told(told(trial, sample_family(), "L2"), {"(moe_grouped_gemm is not true for this model: set it to true)"});
}

TEST(ARule, OfAnAxisNamesTheLayersThatItDoesNotSplit) {
  auto trial = sample_setting();
  auto family = sample_family();
  family.unsplit_kinds["context_parallel_size"] = {"dense", "moe"};
  split_context(trial);
  expect_told(told(trial, family, "R3"), {"R3: ours: ", "(context_parallel_size is 2, the model has layers of kind dense, moe (mla_moe))"});
}

TEST(ARule, OfReplayedCommunicationNamesLabelAndDegree) {
  auto trial = sample_setting();
  split_context(trial);
  select(trial, {"core_attn"});
  expect_told(told(trial, sample_family(), "X1"), {"(context_parallel_size 2; core_attn: keys and values"});
}

// A label on a model that it does not fit, for every family of the trainer.
struct Misfit {
  const char* preset;
  const char* label;
  std::vector<std::string> ids;
  std::vector<std::string> words;  // of the first rule
};

const std::vector<Misfit> kMisfits = {
    {"llama3_70b", "layernorm", {"L8"}, {"layernorm: the norms are fused into the projections"}},
    {"llama3_70b", "moe_act", {"L2", "L8"}, {"grouped-GEMM experts only (family dense_gqa has no experts)"}},
    {"llama3_70b", "mla_up_proj", {"L3", "L8"}, {"multi-latent attention only (family dense_gqa has none)"}},
    {"llama3_70b", "gdn_norm_out", {"L4", "L8"}, {"gated delta net only (family dense_gqa has none)"}},
    {"llama3_70b", "shared_experts", {"L7"}, {"shared_experts: family dense_gqa has no such boundary"}},
    {"llama3_70b", "moe", {"L8"}, {"moe: family dense_gqa has no such boundary"}},
    {"llama3_70b", "core_attn", {"L5"}, {}},
    {"moonlight_16b", "gdn_norm_out", {"L4", "L8"}, {"(family mla_moe has none)"}},
    {"nemotron_3_nano", "gdn_norm_out", {"L4", "L8"}, {}},
    {"nemotron_3_nano", "mla_up_proj", {"L3", "L8"}, {}},
    {"nemotron_3_nano", "mlp", {"L8"}, {"mlp: the model has no dense MLP layer"}},
    {"nemotron_3_nano", "moe_act", {}, {}},
    {"qwen3_next_80b", "mla_up_proj", {"L3", "L8"}, {}},
    {"qwen3_next_80b", "mlp", {"L8"}, {"mlp: family gdn_moe has no such boundary"}},
    {"qwen3_next_80b", "gdn_norm_out", {}, {}},
};

template <typename Named>
const Named& named(const std::vector<Named>& rows, const std::string& name) {
  return *std::find_if(rows.begin(), rows.end(), [&](const Named& row) { return row.name == name; });
}

TEST(Labels, ThatDoNotFitAModelAreRefusedOrIgnoredByARule) {
  const auto trainer = sample_trainer();
  for (const Misfit& row : kMisfits) {
    SCOPED_TRACE(std::string(row.preset) + " " + row.label);
    const auto& preset = named(trainer.presets, row.preset);
    const auto& family = named(trainer.families, preset.family);
    auto trial = sample_setting();
    trial.model.fields.clear();
    for (const auto& field : family.fields) trial.model.fields[field.name] = field.default_value;
    for (const auto& [name, value] : preset.fields) trial.model.fields[name] = value;
    select(trial, {row.label});
    std::vector<std::string> found;
    for (const auto& violation : violations({trial, family, trainer})) found.push_back(violation.id);
    EXPECT_EQ(found, row.ids);
    if (!row.words.empty()) expect_told(told(trial, family, row.ids.front()), row.words);
  }
}

}  // namespace
}  // namespace rematch::compat
