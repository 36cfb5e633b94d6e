// What the figures of a study will be before any of its ranks has said it. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::base {

// By the device of its trials: on meta nothing is computed, on the CPU the device is modelled, and the others are what they are.
protocol::Provenance planned_provenance(const std::string& device);
// nullopt of a plan without trials.
std::optional<protocol::Provenance> planned_provenance(const StudyPlan& plan);

}  // namespace rematch::base
