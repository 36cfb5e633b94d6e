#include "orchestrator/slurm/assignment.h"

#include "orchestrator/base/study_plan.h"
#include "orchestrator/engine/part.h"
#include "orchestrator/launch/allocation.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

namespace {

namespace fs = std::filesystem;

base::Result<protocol::SubmissionTask> task_of(const protocol::Submission& submission) {
  if (submission.shape != protocol::SubmissionShape::kArray) {
    if (submission.tasks.size() == 1) return submission.tasks.front();
    return base::Error{"submission " + submission.name + " is no array: wanted one task, found " + std::to_string(submission.tasks.size())};
  }
  const auto index = launch::environment_number("SLURM_ARRAY_TASK_ID");
  if (index && *index >= 0 && *index < static_cast<std::int64_t>(submission.tasks.size()))
    return submission.tasks[static_cast<std::size_t>(*index)];
  return base::Error{"submission " + submission.name + " is an array: wanted SLURM_ARRAY_TASK_ID from 0 to " +
                     std::to_string(submission.tasks.size() - 1) + ", found " +
                     launch::environment_text("SLURM_ARRAY_TASK_ID").value_or("none")};
}

}  // namespace

base::Result<Assignment> read_assignment(const fs::path& workspace, const fs::path& study_folder, const std::string& submission) {
  const protocol::StudyPaths paths{study_folder};
  try {
    Assignment assignment{
        base::read_study_plan(paths.plan().string()), protocol::read_submission(paths.submission(submission).string()), {}};
    const fs::path planned = protocol::WorkspacePaths{workspace}.study(assignment.plan.name, assignment.plan.study_id);
    if (fs::weakly_canonical(planned) != fs::weakly_canonical(study_folder))
      return base::Error{"the study.json of " + study_folder.string() + " belongs into " + planned.string()};
    const auto task = task_of(assignment.submission);
    if (!task) return task.error();
    assignment.task = task.value();
    if (auto problem = engine::refuse_part(assignment.plan, assignment.task)) return *problem;
    return assignment;
  } catch (const protocol::DocumentError& problem) {
    return base::Error{problem.what()};
  }
}

}  // namespace rematch::slurm
