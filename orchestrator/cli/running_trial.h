// How far the trial is that is being carried out, by its attempt's files: the newest attempt of a trial that has no launch.json. Reads
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/engine/study_folder.h"
#include "schemas/protocol/submission.h"

namespace rematch::cli {

struct RunningTrial {
  std::string arm;
  std::int64_t block = 0;
  std::int64_t slot = 0;
  std::int64_t num_steps_completed = 0;
  std::int64_t num_steps = 0;
};

// Among the trials of a part; {} is the whole study.
std::optional<RunningTrial> find_running(const engine::StudyFolder& folder, const base::StudyPlan& plan,
                                         const protocol::SubmissionTask& part = {});

// "moe_act, block 1, slot 0, step 4 of 20"
std::string running_text(const RunningTrial& trial);

}  // namespace rematch::cli
