// The columns of tables of arms, by what they are of: identity, memory, time or its estimate, effect, evidence. Used by arm_tables.cpp.
// Pure.
#pragma once

#include <optional>
#include <vector>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/cells.h"

namespace rematch::report {

struct ArmContext {
  const base::ArmVerdict* arm;
  const base::StudyPlan* plan;
  std::optional<double> aa_fraction;  // the largest A/A difference, to be read beside a difference in time
};

using ArmColumn = ColumnOf<ArmContext>;
using ArmColumns = std::vector<ArmColumn>;

// Of the main table of one provenance; nullopt: of arms without any number.
ArmColumns main_columns(std::optional<protocol::Provenance> provenance);
// Where an arm failed, and what it was set against.
ArmColumns failure_columns(const base::StudyPlan& plan);
ArmColumns reason_columns();

}  // namespace rematch::report
