// What `show` says of one arm or one trial, from as much as that needs: a few runs, one attempt with its rows, and the arm's verdict in
// words. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/verdict_lines.h"

namespace rematch::report {

struct TrialName {
  std::string arm;
  std::string trial_id;
};

// An arm as a whole, or one trial of it.
struct DetailSubject {
  std::string arm;
  std::string trial_id;  // whole; empty: the arm

  const std::string& name() const { return trial_id.empty() ? arm : trial_id; }
};

// `plan` may be without its trials; `beginning_so`: those whose id begins with the key.
base::Result<DetailSubject> find_detail_subject(const base::StudyPlan& plan, const std::string& key,
                                                const std::vector<TrialName>& beginning_so);

// Of an arm's or a trial's runs the one that tells most: the first that passed neither and was not stopped, else the last of the first
// trial. nullopt: there are none.
std::optional<std::size_t> telling_run(const std::vector<base::RunVerdict>& runs);

struct Detail {
  DetailSubject subject;
  const base::StudyPlan* plan = nullptr;     // with the trials of the subject at least
  std::vector<base::RunVerdict> runs;        // of the subject
  const base::AttemptRows* shown = nullptr;  // nullptr: nothing has run
  const base::RunVerdict* shown_run = nullptr;
  std::vector<rules::VerdictLine> arm_lines;
  Table moved;  // moved_table's rows of the arm
};

// Borrows while it works.
ReportModel make_detail_model(const Detail& detail);

}  // namespace rematch::report
