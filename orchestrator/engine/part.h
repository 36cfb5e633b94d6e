// What of a study one runner carries out, and which parts share trials. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "schemas/protocol/submission.h"

namespace rematch::engine {

// The whole study, which its strategy may extend.
bool is_whole(const protocol::SubmissionTask& task);
bool is_of_part(const protocol::SubmissionTask& task, const protocol::Trial& trial);

// The error: both a block and a trial, or one that the plan does not have.
std::optional<base::Error> refuse_part(const base::StudyPlan& plan, const protocol::SubmissionTask& task);

// Whether a trial of `task` may belong to the part that `scope` names (see protocol::scope_of), its own included.
bool shares_trials(const base::StudyPlan& plan, const protocol::SubmissionTask& task, const std::string& scope);

}  // namespace rematch::engine
