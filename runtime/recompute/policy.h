// Labels -> decision: which units of a model are wrapped, how many there are, how often each was replayed.
// One per rank, made from the trial before the model; it outlives the model. Main thread only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/recompute/region.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::recompute {

// What the trial's recompute section comes to, by Megatron Core's rules: an unset list under `selective` is [core_attn].
// Throws base::BadTrial for a granularity, method or label that this trainer does not have, naming those it has.
protocol::RecomputeSpec resolve(const protocol::RecomputeSpec& asked);

class Policy {
 public:
  explicit Policy(const protocol::RecomputeSpec& resolved);
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  // One unit of the model, at construction. Counts as a site, wrapped or not.
  Region region(const std::string& label);

  const protocol::LabelCounts& sites() const { return sites_; }  // wrapped units by label
  const protocol::LabelCounts& sites_available() const { return sites_available_; }
  const protocol::LabelCounts& replays() const { return replays_; }  // since the last reset
  void reset_replays();

 private:
  bool selects(const std::string& label) const;

  protocol::RecomputeSpec resolved_;
  protocol::LabelCounts sites_;
  protocol::LabelCounts sites_available_;
  protocol::LabelCounts replays_;
};

}  // namespace rematch::recompute
