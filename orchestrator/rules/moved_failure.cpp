#include "orchestrator/rules/moved_failure.h"

#include <utility>

namespace rematch::rules {

std::optional<base::MovedFailure> moved_failure(const base::Failure& control, const base::Failure& candidate) {
  auto place = [](const base::Failure& failure) { return std::pair(failure.step.value_or(-1), failure.stage); };
  const bool got_further = place(candidate) > place(control);
  if (!got_further && candidate.stage == control.stage) return std::nullopt;
  return base::MovedFailure{control, candidate, got_further};
}

}  // namespace rematch::rules
