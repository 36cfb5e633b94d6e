// What `diagnose` and `compare` are asked about: an arm or a trial, and the study that has it. Problems go to streams.err.
#pragma once

#include <string>
#include <variant>

#include "orchestrator/base/rows.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

struct Subject {
  base::StudyRows study;
  std::string arm;
  std::string trial_id;  // empty: the arm as a whole
};

// `key` is the name of an arm, or the id of a trial or the beginning of it, in the study that `study` names; with no study named, in the
// only study of the workspace that has it. The Exit says why there is none: kEnvironment, or kUsage with what there is.
std::variant<Subject, Exit> load_subject(const std::string& key, const std::string& study, const GlobalOptions& options, Streams streams);

}  // namespace rematch::cli
