#include "orchestrator/compat/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

// The family of the settings has one dense and three MoE layers with multi-latent attention and shared experts.
const std::vector<Case> kCases = {
    {"empty_control", [](auto&, auto&) {}, {}},
    {"plain_label", [](auto& t, auto&) { select(t, {"moe_act"}); }, {}},
    {"full_without_method",
     [](auto& t, auto&) {
       t.recompute = {"full", {}, {}, 1, "24bad8e6"};
     },
     {"G3"}},
    {"full_without_count",
     [](auto& t, auto&) {
       t.recompute = {"full", {}, "block", {}, "24bad8e6"};
     },
     {"G4"}},
    {"full_complete",
     [](auto& t, auto&) {
       t.recompute = {"full", {}, "block", 1, "24bad8e6"};
     },
     {}},
    {"selective_with_count", [](auto& t, auto&) { t.recompute.recompute_num_layers = 1; }, {"G5"}},
    {"unknown_label", [](auto& t, auto&) { select(t, {"mhc"}); }, {"L1", "L8"}},
    {"labels_under_null_granularity_are_inert", [](auto& t, auto&) { select(t, {"mhc"}), t.recompute.recompute_granularity.reset(); }, {}},
    {"moe_act_without_grouped_gemm", [](auto& t, auto&) { select(t, {"moe_act"}), t.model.fields["moe_grouped_gemm"] = false; }, {"L2"}},
    {"moe_act_in_a_family_without_experts", [](auto& t, auto& f) { select(t, {"moe_act"}), drop_label(f, "moe_act"); }, {"L2", "L8"}},
    {"mla_up_proj_without_mla", [](auto& t, auto& f) { select(t, {"mla_up_proj"}), drop_label(f, "mla_up_proj"); }, {"L3", "L8"}},
    {"gdn_norm_out_without_gdn", [](auto& t, auto&) { select(t, {"gdn_norm_out"}); }, {"L4", "L8"}},
    {"core_attn", [](auto& t, auto&) { select(t, {"core_attn"}); }, {"L5"}},
    {"shared_experts_overlapped",
     [](auto& t, auto&) { select(t, {"shared_experts"}), t.features.moe_shared_expert_overlap = true; },
     {"L6"}},
    {"overlap_alone", [](auto& t, auto&) { t.features.moe_shared_expert_overlap = true; }, {}},
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
  for (const auto& violation : violations(trial, family)) {
    found.push_back(violation.id);
    EXPECT_FALSE(violation.reason.empty());
  }
  EXPECT_EQ(found, GetParam().ids);
}

INSTANTIATE_TEST_SUITE_P(Table, ASetting, testing::ValuesIn(kCases), [](const auto& row) { return std::string(row.param.name); });

TEST(Rules, EachHaveACaseThatMeetsThem) {
  std::set<std::string> met;
  for (const auto& row : kCases) met.insert(row.ids.begin(), row.ids.end());
  for (const auto& rule : rules()) EXPECT_TRUE(met.contains(std::string(rule.id))) << rule.id;
}

TEST(Rules, OfAnotherCoreRevisionDoNotApply) {
  auto trial = sample_setting();
  trial.features.cpu_offloading = true;
  trial.recompute.core_revision = "24bad8e677d22625d86ef2a54c9506b6e4992c93";
  EXPECT_EQ(violations(trial, sample_family()).size(), 1u);
  trial.recompute.core_revision = "d98e8a64";
  EXPECT_TRUE(violations(trial, sample_family()).empty());
}

TEST(Rules, ThatMegatronRaisesRefuseAndTheOthersOnlyWarn) {
  for (const auto& rule : rules()) {
    const bool warns = rule.id == "L5" || rule.id == "L7" || rule.id == "L8";
    EXPECT_EQ(rule.effect == Effect::kRefuse, !warns) << rule.id;
  }
}

}  // namespace
}  // namespace rematch::compat
