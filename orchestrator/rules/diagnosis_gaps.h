// What each symptom of the table in diagnose.cpp wants to be measured and was not. Pure.
#pragma once

#include <string>

#include "orchestrator/rules/diagnosis_evidence.h"

namespace rematch::rules {

// Each a Gap. A symptom that is read off the plan has none.
std::string no_gap(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_runs(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_optimizer_bound(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_core_attn(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_mla(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_moe(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_labels(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);
std::string gap_of_moved(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);

}  // namespace rematch::rules
