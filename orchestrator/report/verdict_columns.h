// The columns of words on memory and time, with their intervals. Used by arm_columns.cpp. Pure.
#pragma once

#include "orchestrator/report/arm_columns.h"

namespace rematch::report {

ArmColumns memory_verdict_columns();
ArmColumns time_effect_columns();

}  // namespace rematch::report
