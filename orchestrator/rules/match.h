// Rule: two trials may be compared only where their recorded fields (match_fields.h) differ in recompute alone. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// By name of the field. A field that only some ranks differ in has values such as "rank 1: 999". A rank that is without a first line in
// either attempt is not compared. `variation` is that of the group of both: in that of cpu_offloading, against a control without
// granularity, offloading is what is compared.
std::vector<base::FieldDifference> field_differences(const base::AttemptRows& attempt, const base::AttemptRows& against,
                                                     std::string_view variation = "");

// The attempts that count of each group against the setting that most of them have, and on a tie against the control's first. Those that
// ran in a Slurm allocation are set in that against the group but for the fields that name a place (names_a_place), and in these against
// where most of their own block ran: another block may have other nodes.
std::vector<base::Unmatched> find_unmatched(const base::StudyRows& study);

bool is_unmatched(const std::vector<base::Unmatched>& unmatched, const base::AttemptRows& attempt);

// "machine.driver_version, training.seed and 3 more".
std::string fields_text(const std::vector<base::FieldDifference>& differences);

// Takes from arms and groups what was compared across settings, and says in not_comparable which fields differ; kForce: says it only. Once
// everything else has been compared.
enum class Comparison { kRefuse, kForce };
void refuse_comparisons(const std::vector<base::Unmatched>& unmatched, Comparison comparison, base::StudyVerdict& verdict);

}  // namespace rematch::rules
