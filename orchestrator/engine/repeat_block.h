// A block is measured by one runner, back to back on the same nodes. One that another runner left half done is repeated whole: what it had
// done is set aside as superseded.json, which no judgement counts. Called by the engine before its first trial.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/engine/study_folder.h"
#include "schemas/protocol/submission.h"

namespace rematch::engine {

struct SupersededAttempt {
  protocol::Trial trial;
  AttemptOnDisk attempt;  // not done any more
};

// Sets the done attempts aside of each block of the part in which others are not done and one of them was made by a runner other than
// `runner_id`. A block that is complete stays, and so does one of which nothing is done. A part of one trial is no block. All of
// it is on disk when this returns.
std::vector<SupersededAttempt> supersede_half_done_blocks(const base::StudyPlan& plan, const protocol::SubmissionTask& task,
                                                          const StudyFolder& folder, const std::string& runner_id);

}  // namespace rematch::engine
