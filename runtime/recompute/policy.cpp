#include "runtime/recompute/policy.h"

#include <algorithm>

#include "runtime/base/errors.h"
#include "runtime/base/text.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::recompute {

namespace {

void require_known_labels(const protocol::RecomputeSpec& spec) {
  for (const auto& label : *spec.recompute_modules)
    if (!protocol::find_label(label, spec.core_revision))
      throw base::BadTrial("recompute.recompute_modules: unknown label '" + label + "' in Megatron Core " + spec.core_revision +
                           "; known: " + base::joined(protocol::labels_of_revision(spec.core_revision)));
}

}  // namespace

protocol::RecomputeSpec resolve(const protocol::RecomputeSpec& asked) {
  protocol::RecomputeSpec resolved = asked;
  if (!asked.recompute_granularity) return resolved;
  if (!resolved.recompute_modules) resolved.recompute_modules = {"core_attn"};
  if (*asked.recompute_granularity == "full") {
    const bool knows_method = asked.recompute_method == "uniform" || asked.recompute_method == "block";
    if (!knows_method || asked.recompute_num_layers.value_or(0) < 1)
      throw base::BadTrial(
          "recompute: full recompute wants recompute_method (uniform or block) and recompute_num_layers (at least 1); set both");
    return resolved;
  }
  if (asked.recompute_method || asked.recompute_num_layers || asked.distribute_saved_activations)
    throw base::BadTrial(
        "recompute: recompute_method, recompute_num_layers and distribute_saved_activations belong to full recompute; unset them under "
        "selective");
  require_known_labels(resolved);
  return resolved;
}

std::vector<LayerGroup> layer_groups(const protocol::RecomputeSpec& resolved, std::int64_t num_layers) {
  const bool full = resolved.recompute_granularity == "full";
  const bool uniform = full && resolved.recompute_method == "uniform";
  const auto asked = full ? *resolved.recompute_num_layers : 0;
  std::vector<LayerGroup> groups;
  for (std::int64_t first = 0; first < num_layers;) {
    const auto count = uniform ? std::min(asked, num_layers - first) : 1;
    groups.push_back({.first = first, .count = count, .checkpointed = uniform || first < asked});
    first += count;
  }
  return groups;
}

Policy::Policy(const protocol::RecomputeSpec& resolved, at::Device device) : resolved_(resolved), random_(device) {}

bool Policy::selects(const std::string& label) const {
  if (!resolved_.recompute_granularity || *resolved_.recompute_granularity != "selective") return false;
  const auto& modules = *resolved_.recompute_modules;
  return std::find(modules.begin(), modules.end(), label) != modules.end();
}

Region Policy::region(const std::string& label) {
  const auto row = protocol::find_label(label, resolved_.core_revision);
  ++sites_available_[label];
  RegionSite site{.label = label, .replays = &replays_[label], .streams = &random_};  // map nodes do not move
  if (row && row->mechanism == protocol::Mechanism::kOutputDiscarding) site.outputs = Outputs::kDropped;
  if (row && selects(label)) {
    ++sites_[label];
    site.mode = site.outputs == Outputs::kKept ? Mode::kCheckpoint : Mode::kDiscardOutput;
  }
  return Region(std::move(site));
}

Region Policy::layer_group(const LayerGroup& group, const InputShard* input_shard) {
  RegionSite site{.label = kFullRecompute, .replays = &replays_[kFullRecompute], .streams = &random_};
  if (group.checkpointed) {
    ++sites_[kFullRecompute];
    ++sites_available_[kFullRecompute];
    site.mode = Mode::kCheckpoint;
    if (resolved_.distribute_saved_activations) site.input_shard = input_shard;
  }
  return Region(std::move(site));
}

void Policy::reset_replays() {
  for (auto& [label, count] : replays_) count = 0;
}

}  // namespace rematch::recompute
