// What is different of a prediction: its ranks stand for others, and what is said of it says so. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::base {

// Whether its ranks only predict: on the meta device nothing is computed and no time is anybody's.
bool is_predicted(const protocol::Trial& trial);
bool is_predicted(const StudyPlan& plan);  // of its first trial: a study has one device

// How many other ranks each started rank stands for, by rank; 0 without a prediction.
std::map<std::int64_t, std::int64_t> alike_counts(const protocol::Trial& trial);
std::int64_t num_alike(const protocol::Trial& trial, std::int64_t rank);  // of one; 0 of a rank that was not started
// "rank 0 (and 7 alike)"; "rank 0" when it stands for itself alone.
std::string rank_text(std::int64_t rank, std::int64_t num_alike);

}  // namespace rematch::base
