// What a runner is to do: the study's plan, its submission, and which task of that is its own. Reads the disk and the environment.
#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

struct Assignment {
  base::StudyPlan plan;
  protocol::Submission submission;
  protocol::SubmissionTask task;  // of an array the one of SLURM_ARRAY_TASK_ID
};

// The error: documents that cannot be read or do not fit, a part that the plan does not have.
base::Result<Assignment> read_assignment(const std::filesystem::path& workspace, const std::filesystem::path& study_folder,
                                         const std::string& submission);

}  // namespace rematch::slurm
