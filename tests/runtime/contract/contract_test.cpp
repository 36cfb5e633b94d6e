// The contract of recompute, for every family x (labels, pairs, full modes) x (dropout off, on) x (fused, unfused attention): losses and
// all gradients equal those of the empty control to the bit, every unit is wrapped and replayed as its row says, and less is held for
// backward. A family joins by a preset whose name ends in _tiny, a label by a row in its family's description.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/models/presets.h"
#include "tests/runtime/contract/model_runs.h"

namespace rematch::tests {
namespace {

struct Setting {
  std::string preset;
  bool dropout;
  nn::AttentionBackend backend;
};

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.preset; }

std::string name_of(const testing::TestParamInfo<Setting>& info) {
  return info.param.preset + (info.param.dropout ? "_dropout" : "_plain") +
         (info.param.backend == nn::AttentionBackend::kFused ? "_fused" : "_unfused");
}

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const auto& preset : models::presets()) {
    if (preset.name.size() < 5 || preset.name.substr(preset.name.size() - 5) != "_tiny") continue;
    for (const bool dropout : {false, true})
      for (const auto backend : {nn::AttentionBackend::kFused, nn::AttentionBackend::kUnfused})
        settings.push_back({preset.name, dropout, backend});
  }
  return settings;
}

ModelCase case_of(const Setting& setting) {
  ModelCase model{.preset = setting.preset, .backend = setting.backend};
  if (!setting.dropout) return model;
  model.overrides = {{"hidden_dropout", 0.1}, {"attention_dropout", 0.1}};
  const auto& fields = family_of_preset(setting.preset).fields;
  const auto is_jitter = [](const auto& field) { return field.name == "moe_input_jitter_eps"; };
  if (std::any_of(fields.begin(), fields.end(), is_jitter)) model.overrides["moe_input_jitter_eps"] = 0.01;
  return model;
}

class Contract : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    model_ = case_of(GetParam());
    fields_ = resolved_fields(model_.preset, model_.overrides);
    control_ = run_model(model_, selective({}));
    for (const auto& row : family_of_preset(model_.preset).labels)
      if (sites_of(row.label) > 0) labels_.push_back(row.label);
  }

  std::int64_t sites_of(const std::string& label) const { return protocol::count_sites(family_of_preset(model_.preset), fields_, label); }
  std::int64_t num_layers() const { return std::get<std::int64_t>(fields_.at("num_layers")); }

  ModelRun expect_equal_to_control(const protocol::RecomputeSpec& recompute) const {
    auto arm = run_model(model_, recompute);
    for (std::size_t i = 0; i < arm.losses.size(); ++i) EXPECT_TRUE(at::equal(arm.losses[i], control_.losses[i])) << "micro-batch " << i;
    EXPECT_EQ(arm.aux_losses, control_.aux_losses);
    for (const auto& [name, grad] : control_.grads) {
      const auto& ours = arm.grads.at(name);
      EXPECT_TRUE(grad.defined() ? ours.defined() && at::equal(grad, ours) : !ours.defined()) << name;
    }
    return arm;
  }

  // When the embedding's gradient is made all layers' backwards are over, and the graph is still there: what replays made must be gone.
  void expect_nothing_outlives_the_layers(const ModelRun& arm) const {
    const std::string last = "embedding.word_embeddings.weight";
    EXPECT_EQ(arm.allocated_at_gradient.at(last), control_.allocated_at_gradient.at(last));
  }

  void expect_sites(const ModelRun& arm, const protocol::LabelCounts& sites) const {
    EXPECT_EQ(arm.sites, sites);
    for (const auto& [label, count] : arm.replays) {
      const auto wrapped = sites.find(label);
      EXPECT_EQ(count, wrapped == sites.end() ? 0 : wrapped->second * model_.num_microbatches) << label;
    }
  }

  ModelCase model_;
  protocol::FieldMap fields_;
  ModelRun control_;
  std::vector<std::string> labels_;
};

TEST_P(Contract, TheControlTrainsAndReplaysNothing) {
  expect_sites(control_, {});
  EXPECT_FALSE(at::equal(control_.losses[0], control_.losses[1]));
  for (const auto& [name, grad] : control_.grads) {
    if (name.find(".experts.") != std::string::npos) continue;  // an expert may get no token
    ASSERT_TRUE(grad.defined()) << name;
    EXPECT_GT(grad.abs().max().item<double>(), 0) << name;
  }
}

TEST_P(Contract, EveryLabelEqualsTheControlToTheBitAndHoldsLess) {
  ASSERT_FALSE(labels_.empty());
  for (const auto& label : labels_) {
    SCOPED_TRACE(label);
    const auto arm = expect_equal_to_control(selective({label}));
    expect_sites(arm, {{label, sites_of(label)}});
    EXPECT_LT(arm.held_bytes, control_.held_bytes);
    EXPECT_LE(arm.backward_peak_bytes, control_.backward_peak_bytes);
    expect_nothing_outlives_the_layers(arm);
  }
}

TEST_P(Contract, EveryPairEqualsTheControlToTheBitAndHoldsNoMoreThanEitherAlone) {
  std::map<std::string, std::int64_t> held;
  for (const auto& label : labels_) held[label] = run_model(model_, selective({label})).held_bytes;
  for (std::size_t i = 0; i < labels_.size(); ++i)
    for (std::size_t j = i + 1; j < labels_.size(); ++j) {
      SCOPED_TRACE(labels_[i] + "+" + labels_[j]);
      const auto arm = expect_equal_to_control(selective({labels_[i], labels_[j]}));
      expect_sites(arm, {{labels_[i], sites_of(labels_[i])}, {labels_[j], sites_of(labels_[j])}});
      EXPECT_LE(arm.held_bytes, std::min(held[labels_[i]], held[labels_[j]]));
      expect_nothing_outlives_the_layers(arm);
    }
}

TEST_P(Contract, AllLabelsAtOnceEqualTheControlToTheBit) {
  protocol::LabelCounts sites;
  for (const auto& label : labels_) sites[label] = sites_of(label);
  expect_sites(expect_equal_to_control(selective(labels_)), sites);
}

TEST_P(Contract, FullRecomputeEqualsTheControlToTheBitAndHoldsLess) {
  const auto n = num_layers();
  const std::vector<std::pair<protocol::RecomputeSpec, std::int64_t>> modes = {
      {full("uniform", 1), n}, {full("uniform", 2), (n + 1) / 2}, {full("uniform", n), 1}, {full("block", 1), 1}, {full("block", n), n}};
  for (const auto& [recompute, groups] : modes) {
    SCOPED_TRACE(*recompute.recompute_method + " " + std::to_string(*recompute.recompute_num_layers));
    const auto arm = expect_equal_to_control(recompute);
    expect_sites(arm, {{"full", groups}});
    EXPECT_LT(arm.held_bytes, control_.held_bytes);
    expect_nothing_outlives_the_layers(arm);
  }
}

TEST_P(Contract, LabelsHaveNoEffectUnderFullRecompute) {
  auto with_labels = full("block", 1);
  with_labels.recompute_modules = labels_;
  const auto arm = expect_equal_to_control(with_labels);
  expect_sites(arm, {{"full", 1}});
  EXPECT_EQ(arm.held_bytes, run_model(model_, full("block", 1)).held_bytes);
}

INSTANTIATE_TEST_SUITE_P(Families, Contract, testing::ValuesIn(all_settings()), name_of);

}  // namespace
}  // namespace rematch::tests
