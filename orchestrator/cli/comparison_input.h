// What `compare` and `diagnose` are asked about, found in a database, and what is judged of it for `compare`, which reads the chosen trials
// alone.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/rules/compare_sides.h"
#include "orchestrator/store/store.h"

namespace rematch::cli {

enum class ComparedKind { kArm, kTrial, kStudy };

struct ComparedSubject {
  ComparedKind kind = ComparedKind::kArm;
  std::string study_id;
  std::string study;  // its name
  std::string arm;    // of an arm or a trial
  std::string trial_id;
};

// `key`: a study by name or id, else an arm by name, else a trial by the beginning of its id or a study by the beginning of its name or id;
// with a `study` (name, id or beginning of either) an arm or a trial of it. The error lists what there is, or what it could be.
base::Result<ComparedSubject> find_compared(const store::Store& store, const std::string& key, const std::string& study);

// Sides with the records that stand for them.
struct ComparedSides {
  base::StudyPlan plan;                    // no trials
  std::vector<rules::ComparedSide> sides;  // of a study all its arms
  std::list<base::AttemptRows> records;    // that the sides point to
};

// Out of the verdicts that are stored; of a study that is not judged as it stands by judging it.
ComparedSides load_sides(const store::Store& store, const ComparedSubject& subject);

}  // namespace rematch::cli
