// What kept every trial of a part from being launched. Reads the trials' launch records, writes nothing.
#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/engine/study_folder.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

// The message with which each attempt of the part that began after that time failed to launch, where it is one and the same but for numbers
// and was met twice at least, by earlier attempts too; else empty: there is none, one came further, or they failed in several ways.
std::string common_launch_problem(const base::StudyPlan& plan, const engine::StudyFolder& folder, const protocol::SubmissionTask& part,
                                  std::int64_t since_unix_ns);

}  // namespace rematch::slurm
