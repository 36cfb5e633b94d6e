// What a recompute setting is called as an arm, and under which keys a trainer counts its regions and their replays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schemas/protocol/trial.h"

namespace rematch::protocol {

inline constexpr const char* kFullRecompute = "full";  // key of the layer groups that full recompute checkpoints

// Labels joined by '+' in the order given, "[]" for the empty set, "null" without granularity; "full:uniform:1", "full:block:2" and
// "full:uniform:1:distributed" for full recompute, whose labels have no effect and no part in the name; "full:block:unset" where
// a rule refuses the setting because that part of it is missing.
std::string arm_name(const RecomputeSpec& recompute);

// The labels under selective, kFullRecompute under full, none without granularity.
std::vector<std::string> counted_keys(const RecomputeSpec& recompute);

// Of full recompute in a chunk of `num_layers` layers; 0 when method or number of layers is not set.
std::int64_t num_checkpointed_groups(const RecomputeSpec& recompute, std::int64_t num_layers);

}  // namespace rematch::protocol
