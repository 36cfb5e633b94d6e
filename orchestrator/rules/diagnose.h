// Rule: the symptoms that the numbers of a study show, each with the numbers that it rests on and a next step. A symptom whose numbers were
// not measured is silent. The table of symptoms stands in diagnose.cpp; each is found by a function of its own. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

struct Symptom {
  std::string_view id;    // stable: "fragmentation"
  std::string_view what;  // one line
  std::string_view why;   // why its numbers mean it
};

// In the order in which diagnose() lists them.
std::vector<Symptom> symptoms();

// `verdict` with its runs, arms and groups filled in. By symptom, then in the order of the arms.
std::vector<base::Diagnosis> diagnose(const base::StudyRows& study, const base::StudyVerdict& verdict);
// What could not be looked for, for want of data. In the same order.
std::vector<base::UnjudgedSymptom> find_unjudged(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::rules
