// An arm of a verdict by its name, and what is diagnosed as text.
#pragma once

#include <stdexcept>
#include <string>

#include "orchestrator/base/verdicts.h"

namespace rematch::tests {

// Throws std::logic_error without such an arm.
inline const base::ArmVerdict& arm_of(const base::StudyVerdict& verdict, const std::string& name) {
  for (const base::ArmVerdict& arm : verdict.arms)
    if (arm.arm == name) return arm;
  throw std::logic_error("no arm " + name);
}

// A line each: "failed-further moe_act: The failure moved ...".
inline std::string diagnoses_text(const base::StudyVerdict& verdict) {
  std::string text;
  for (const base::Diagnosis& diagnosis : verdict.diagnoses)
    text += diagnosis.symptom + " " + diagnosis.arm + ": " + diagnosis.finding + " " + diagnosis.next_step + "\n";
  return text;
}

}  // namespace rematch::tests
