// In which order the arms of a round are named: by what each can take away of the control's peak at most, as its attribution says, and
// where that is not known or equal, as the plan has them. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::strategy {

struct OrderedArm {
  base::ArmRow arm;
  std::string reason;
};

std::vector<OrderedArm> in_order(const base::StudyRows& study, const base::ArmRow& control, const std::vector<base::ArmRow>& arms);

}  // namespace rematch::strategy
