// The rounds of an escalation, from what replays least to what replays most, and which label comes first within one. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "orchestrator/base/rows.h"

namespace rematch::plan {

enum class Tier { kControl, kNarrow, kNarrowUnion, kWhole, kWholeUnion, kFullBlock, kFullUniform, kOffloading };

inline constexpr std::array kAllTiers = {Tier::kControl,    Tier::kNarrow,    Tier::kNarrowUnion, Tier::kWhole,
                                         Tier::kWholeUnion, Tier::kFullBlock, Tier::kFullUniform, Tier::kOffloading};

std::string_view to_string(Tier tier);  // "narrow labels", ...
Tier tier_of(const base::ArmRow& arm);

// The inner label adds nothing to the outer one in forward: its region lies within.
bool is_nested_in(std::string_view inner, std::string_view outer);

// Place of a label where nothing is known of the peak: the expanded projections of multi-latent attention before its core, attention
// before experts, whole modules last. Labels that are not in the table come after all of it.
std::size_t architecture_place(std::string_view label);

}  // namespace rematch::plan
