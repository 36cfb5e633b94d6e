// A layout in one line, as reports and the plan print it: ranks, and every degree that is not 1. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "schemas/protocol/parallel_dims.h"

namespace rematch::base {

// "8 ranks, TP=2 EP=8 DP=4, SP".
std::string layout_text(const protocol::ParallelSpec& spec);

// "pipeline rank 1 of 4"; empty without pipeline parallelism.
std::string pipeline_place(const protocol::ParallelSpec& spec, std::int64_t rank);

}  // namespace rematch::base
