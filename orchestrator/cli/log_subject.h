// Whose logs `logs` is asked for: a study, an arm or a trial, found in the studies' folders. Problems go to streams.err.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "orchestrator/cli/verb.h"

namespace rematch::cli {

struct LogSubject {
  std::filesystem::path study;         // its folder
  std::vector<std::string> trial_ids;  // of the arm or the trial; empty: the whole study
};

// `key` is the name or the id of a study, the name of an arm, the id of a trial, or the beginning of a study's name or of an id; empty: the
// study that was worked on last. `study` narrows to one, by name, id or the beginning of either. The Exit: kUsage with what there is,
// kEnvironment when a plan cannot be read.
std::variant<LogSubject, Exit> find_log_subject(const std::string& key, const std::string& study, const std::filesystem::path& workspace,
                                                Streams streams);

}  // namespace rematch::cli
