// Which rank caused an attempt to fail, and how: the one that failed first, victims of communication aside; of a prediction the one that
// would have failed first. Pure.
#pragma once

#include <optional>

#include "orchestrator/base/rows.h"

namespace rematch::collect {

// Whether trial.json and launch.json could be read; the reason why not stands in the launch message.
enum class Documents { kRead, kUnreadable };

// nullopt when every rank ended with exit 0 and a complete record. `attempt.ranks` and `attempt.launch` must be filled in.
std::optional<base::Failure> find_cause(const base::AttemptRows& attempt, Documents documents);

}  // namespace rematch::collect
