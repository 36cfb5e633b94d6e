// What a report says above its tables: what was run, on what, with which builds; and below them the answer. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Device, provenance and builds are those that the ranks reported; "-" until one has.
std::vector<Fact> study_facts(const base::StudyRows& study, const base::StudyVerdict& verdict);
// "sparse"; of a predicted study "sparse (predicted)".
std::string study_title(const base::StudyPlan& plan);
std::vector<Fact> answer_facts(const base::StudyRows& study, const base::StudyVerdict& verdict);

// Every distinct value that `get` finds in the ranks' hello records, joined by ", ".
std::string distinct_of_ranks(const std::vector<base::AttemptRows>& attempts, std::string (*get)(const protocol::HelloRecord&));

}  // namespace rematch::report
