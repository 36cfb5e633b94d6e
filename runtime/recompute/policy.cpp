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
  if (*asked.recompute_granularity != "selective")
    throw base::BadTrial("recompute.recompute_granularity: this trainer has selective and null, found '" + *asked.recompute_granularity +
                         "'");
  if (asked.recompute_method || asked.recompute_num_layers)
    throw base::BadTrial(
        "recompute: recompute_method and recompute_num_layers belong to full recompute, which this trainer does not have; unset them");
  if (!resolved.recompute_modules) resolved.recompute_modules = {"core_attn"};
  require_known_labels(resolved);
  return resolved;
}

Policy::Policy(const protocol::RecomputeSpec& resolved) : resolved_(resolved) {}

bool Policy::selects(const std::string& label) const {
  if (!resolved_.recompute_granularity || *resolved_.recompute_granularity != "selective") return false;
  const auto& modules = *resolved_.recompute_modules;
  return std::find(modules.begin(), modules.end(), label) != modules.end();
}

Region Policy::region(const std::string& label) {
  const auto row = protocol::find_label(label, resolved_.core_revision);
  ++sites_available_[label];
  std::int64_t& replays = replays_[label];  // map nodes do not move
  if (!row || !selects(label)) return {Region::Mode::kInactive, &replays};
  ++sites_[label];
  const bool checkpoint = row->mechanism == protocol::Mechanism::kCheckpoint;
  return {checkpoint ? Region::Mode::kCheckpoint : Region::Mode::kDiscardOutput, &replays};
}

void Policy::reset_replays() {
  for (auto& [label, count] : replays_) count = 0;
}

}  // namespace rematch::recompute
