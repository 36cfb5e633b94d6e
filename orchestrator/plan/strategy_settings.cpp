#include "orchestrator/plan/strategy_settings.h"

#include <algorithm>
#include <cmath>

#include "orchestrator/base/whole_module.h"
#include "orchestrator/plan/tiers.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::plan {

namespace {

using Labels = std::vector<std::string>;
using protocol::RecomputeSpec;

// Unions that recipes of the field use, each where the model has all of its labels.
const std::vector<Labels>& recipes() {
  static const std::vector<Labels> rows = {
      {"layernorm", "moe_act"}, {"mla_up_proj", "core_attn"}, {"mla_up_proj", "layernorm", "moe_act"},
      {"mla_up_proj", "mlp"},   {"moe", "layernorm"},
  };
  return rows;
}

RecomputeSpec selective(const spec::SweepSpec& spec, const Labels& labels) {
  return {.recompute_granularity = "selective", .recompute_modules = labels, .core_revision = spec.common.recompute.core_revision};
}

RecomputeSpec full(const spec::SweepSpec& spec, const std::string& method, std::int64_t num_layers) {
  return {.recompute_granularity = "full",
          .recompute_method = method,
          .recompute_num_layers = num_layers,
          .core_revision = spec.common.recompute.core_revision};
}

std::string name_in_any_order(RecomputeSpec recompute) {
  if (recompute.recompute_modules) std::sort(recompute.recompute_modules->begin(), recompute.recompute_modules->end());
  return protocol::arm_name(recompute);
}

bool contains(const Labels& labels, const std::string& label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

Labels narrow_of(const Labels& labels) {
  Labels narrow;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(narrow),
               [](const std::string& label) { return !base::is_whole_module(label); });
  return narrow;
}

// Every label but those that lie within another: the widest selective setting.
Labels outermost_of(const Labels& labels) {
  Labels outermost;
  for (const std::string& label : labels)
    if (std::none_of(labels.begin(), labels.end(), [&](const std::string& outer) { return is_nested_in(label, outer); }))
      outermost.push_back(label);
  return outermost;
}

std::vector<RecomputeSpec> pairs_of(const spec::SweepSpec& spec, const Labels& labels) {
  std::vector<RecomputeSpec> pairs;
  for (std::size_t first = 0; first < labels.size(); ++first)
    for (std::size_t second = first + 1; second < labels.size(); ++second)
      pairs.push_back(selective(spec, {labels[first], labels[second]}));
  return pairs;
}

std::vector<RecomputeSpec> unions_of(const spec::SweepSpec& spec, const Labels& labels) {
  std::vector<RecomputeSpec> unions;
  const auto has = [&](const std::string& label) { return contains(labels, label); };
  for (const Labels& recipe : recipes())
    if (std::all_of(recipe.begin(), recipe.end(), has)) unions.push_back(selective(spec, recipe));
  for (const Labels& widest : {narrow_of(labels), outermost_of(labels)})
    if (widest.size() > 1) unions.push_back(selective(spec, widest));
  return unions;
}

// A quarter, half and three quarters of the layers one by one, then all of them one by one, then in groups of about the square root, which
// keeps the fewest inputs for what a group holds.
std::vector<RecomputeSpec> fulls_of(const spec::SweepSpec& spec, std::int64_t num_layers) {
  std::vector<RecomputeSpec> settings;
  for (std::int64_t quarters = 1; quarters <= 3; ++quarters)
    if (const std::int64_t count = (num_layers * quarters + 3) / 4; count < num_layers) settings.push_back(full(spec, "block", count));
  settings.push_back(full(spec, "uniform", 1));
  const auto group = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(num_layers))));
  if (group > 1) settings.push_back(full(spec, "uniform", group));
  return settings;
}

}  // namespace

std::vector<RecomputeSpec> strategy_settings(const spec::SweepSpec& spec, const Labels& labels, std::int64_t num_layers) {
  std::vector<RecomputeSpec> wanted;
  const auto append = [&](const std::vector<RecomputeSpec>& more) { wanted.insert(wanted.end(), more.begin(), more.end()); };
  if (spec.strategy_kind == "pairs") append(pairs_of(spec, labels));
  if (spec.strategy_kind == "escalate" && !spec.sets_written) append(unions_of(spec, labels));
  if (spec.strategy_kind == "escalate" && !spec.full_written) append(fulls_of(spec, num_layers));
  Labels known;
  for (const spec::Candidate& candidate : spec.candidates) known.push_back(name_in_any_order(candidate.recompute));
  std::vector<RecomputeSpec> settings;
  for (RecomputeSpec& setting : wanted) {
    const std::string name = name_in_any_order(setting);
    if (contains(known, name)) continue;
    known.push_back(name);
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace rematch::plan
