// An arm of a verdict by its name.
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

}  // namespace rematch::tests
