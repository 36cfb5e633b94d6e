// Labels -> decision: which units of a model are wrapped, how many there are, how often each was replayed; and which layers full recompute
// takes together. Owns the random streams that the model draws from. One per rank, made from the trial before the model; it outlives the
// model. Main thread only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/random/random_streams.h"
#include "runtime/recompute/region.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/recompute_arm.h"
#include "schemas/protocol/trial.h"

namespace rematch::recompute {

// What the trial's recompute section comes to, by Megatron Core's rules: an unset list is [core_attn], which counts under `selective` only.
// Throws base::BadTrial for a setting that Megatron refuses or that this trainer does not have, naming what it has.
protocol::RecomputeSpec resolve(const protocol::RecomputeSpec& asked);

// The key under which checkpoints of whole layers are counted.
using protocol::kFullRecompute;

// Consecutive layers of one model chunk. A checkpointed group keeps its first layer's input only.
struct LayerGroup {
  std::int64_t first = 0;
  std::int64_t count = 1;
  bool checkpointed = false;
};

// Megatron Core's TransformerBlock: `uniform` checkpoints every group of recompute_num_layers, the last one short where they do not divide;
// `block` checkpoints each of the first recompute_num_layers layers. Otherwise every layer by itself, unwrapped.
std::vector<LayerGroup> layer_groups(const protocol::RecomputeSpec& resolved, std::int64_t num_layers);

class Policy {
 public:
  Policy(const protocol::RecomputeSpec& resolved, at::Device device);
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  // One unit of the model, at construction. Counts as a site, wrapped or not.
  Region region(const std::string& label);
  // One group of layers of this rank's chunk. `input_shard`, when not null, outlives the region and serves distribute_saved_activations.
  Region layer_group(const LayerGroup& group, const InputShard* input_shard);

  const protocol::RecomputeSpec& resolved() const { return resolved_; }
  random::RandomStreams& random() { return random_; }

  const protocol::LabelCounts& sites() const { return sites_; }  // wrapped units by label
  const protocol::LabelCounts& sites_available() const { return sites_available_; }
  const protocol::LabelCounts& replays() const { return replays_; }  // since the last reset
  void reset_replays();

 private:
  bool selects(const std::string& label) const;

  protocol::RecomputeSpec resolved_;
  random::RandomStreams random_;
  protocol::LabelCounts sites_;
  protocol::LabelCounts sites_available_;
  protocol::LabelCounts replays_;
};

}  // namespace rematch::recompute
