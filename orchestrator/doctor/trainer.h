// Whether there is a trainer that can be asked, and what it says of itself. Starts it once with --describe.
#pragma once

#include <filesystem>
#include <optional>

#include "orchestrator/doctor/finding.h"

namespace rematch::doctor {

// `given` is --trainer.
Findings examine_trainer(const std::optional<std::filesystem::path>& given);

}  // namespace rematch::doctor
