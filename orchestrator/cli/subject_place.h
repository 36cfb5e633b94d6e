// Where the arm or trial is that a user names: `show` looks there, without reading the study. Problems go to streams.err.
#pragma once

#include <string>
#include <variant>

#include "orchestrator/base/rows.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/detail.h"
#include "orchestrator/store/store.h"

namespace rematch::cli {

struct SubjectPlace {
  base::StudyPlan plan;  // without its trials
  report::DetailSubject subject;
};

// `key`: the name of an arm, or the id of a trial or the beginning of it, in the study that `study` names; with no study named, in the only
// study of the workspace that has it. The Exit is kUsage: there is none, or several.
std::variant<SubjectPlace, Exit> find_subject_place(const store::Store& store, const std::string& key, const std::string& study,
                                                    Streams streams);

}  // namespace rematch::cli
