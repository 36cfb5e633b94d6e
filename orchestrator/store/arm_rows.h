// What the verdict of an arm holds beside its figures, and the pairs of controls: tables arm_failure, failed_comparison and control_pair.
// Written with the verdicts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/base/verdicts.h"

namespace rematch::store {

class Database;

// Of a predicted study, how many other ranks each one that was run stands for, by rank; empty of any other study.
using AlikeRanks = std::map<std::int64_t, std::int64_t>;
// The study's trials must have been put.
AlikeRanks load_alike_ranks(Database& database, const std::string& study_id);
// Of this rank; nullopt when no rank stands for others.
std::optional<std::int64_t> num_alike(const AlikeRanks& alike, std::int64_t rank);

// Replaces nothing: within the caller's transaction, when those of before are gone.
void insert_arm_failures(Database& database, const std::string& study_id, const base::StudyVerdict& verdict, const AlikeRanks& alike);
void insert_control_pairs(Database& database, const std::string& study_id, const base::StudyVerdict& verdict);

}  // namespace rematch::store
