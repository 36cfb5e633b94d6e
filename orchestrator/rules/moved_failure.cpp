#include "orchestrator/rules/moved_failure.h"

#include <tuple>

namespace rematch::rules {

std::string place_of(const base::Failure& failure) {
  std::string text(protocol::to_string(failure.stage));
  if (failure.step) text += " of step " + std::to_string(*failure.step);
  if (failure.phase) text += ", " + std::string(protocol::to_string(*failure.phase));
  return text;
}

std::optional<base::MovedFailure> moved_failure(const base::Failure& control, const base::Failure& candidate) {
  if (control.kind != protocol::FailureKind::kOom || candidate.kind != protocol::FailureKind::kOom) return std::nullopt;
  // Phases are numbered in the order in which a step goes through them.
  auto place = [](const base::Failure& failure) { return std::tuple(failure.step.value_or(-1), failure.stage, failure.phase); };
  if (place(candidate) == place(control)) return std::nullopt;
  return base::MovedFailure{control, candidate, place(candidate) > place(control)};
}

}  // namespace rematch::rules
