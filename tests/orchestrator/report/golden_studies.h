// The studies of the golden files, made in code, and the report of each. Values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"
#include "schemas/protocol/published.h"

namespace rematch::report {

struct GoldenStudy {
  std::string name;
  base::StudyRows study;
  std::optional<protocol::Published> published = {};

  std::vector<GoldenStudy> golden_studies();
  // With what it has beside itself.
  ReportModel model_of(const GoldenStudy& golden);

  // On the meta device without a limit: only rank 0 of two that are alike was run, and a modelled device has run the same.
  GoldenStudy simulated_study();

}  // namespace rematch::report
