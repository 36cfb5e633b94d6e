// What a study that was planned before had done, and what of it a new plan no longer counts. Called by `run` before the new plan is
// written, and by `plan`. Reads the study's folder; what it cannot read says nothing.
#pragma once

#include <filesystem>
#include <optional>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/warnings.h"

namespace rematch::engine {

// One sentence, with numbers: the trainer is another build, or done trials are no part of the plan any more. nullopt: nothing is lost.
std::optional<base::Warning> plan_change(const std::filesystem::path& study_folder, const base::StudyPlan& plan);

}  // namespace rematch::engine
