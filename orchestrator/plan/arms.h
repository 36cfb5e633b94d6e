// Expand: the control and the candidates of a sweep as arms, each with what the model and the compatibility rules say of it. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/compat/rules.h"
#include "orchestrator/spec/sweep.h"
#include "schemas/protocol/describe.h"

namespace rematch::plan {

// The control first, then the candidates in the sweep's order; of `labels: applicable` only those that can run. group_id is left empty: see
// match in plan.cpp.
std::vector<base::ArmRow> expand_arms(const spec::SweepSpec& spec, const protocol::Describe& trainer);

// Every rule that this setting of the sweep's model meets.
std::vector<compat::Violation> violations_of(const spec::SweepSpec& spec, const protocol::Describe& trainer,
                                             const protocol::RecomputeSpec& recompute);

}  // namespace rematch::plan
