// What a prediction assumes, with the origin of each assumption, and which ranks stand for which. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Empty of a study that predicts nothing.
std::vector<Table> prediction_tables(const base::StudyPlan& plan);

}  // namespace rematch::report
