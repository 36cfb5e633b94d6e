// The finders of the table in diagnose.cpp, one a symptom; `symptom` is the id that they write. reports/METRICS.md, "Diagnosis", says when
// each speaks. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "orchestrator/rules/diagnosis_evidence.h"

namespace rematch::rules {

std::vector<base::Diagnosis> find_fragmentation(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_optimizer_bound_symptom(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_core_attn_without_effect(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_mla_out_of_memory(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_high_moe_peak(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_overlap_conflict(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_label_without_effect(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_full_recompute_with_graphs(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_moved_to_another_rank(const Evidence& evidence, std::string_view symptom);
std::vector<base::Diagnosis> find_failed_further(const Evidence& evidence, std::string_view symptom);

}  // namespace rematch::rules
