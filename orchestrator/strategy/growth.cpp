#include "orchestrator/strategy/growth.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rematch::strategy {

using base::ArmRow;
using base::ArmStatus;
using base::DecisionAction;

Growth::Growth(const base::StudyPlan& plan) : plan_(plan), round_(plan.decisions.empty() ? 0 : plan.decisions.back().round + 1) {}

void Growth::remark(DecisionAction action, const std::string& reason) { decide(action, "", reason); }

void Growth::take(const std::string& arm, const std::string& reason) {
  row(arm).status = ArmStatus::kPlanned;
  decide(DecisionAction::kTake, arm, reason);
}

void Growth::leave_out(const std::string& arm, const std::string& reason) {
  ArmRow& left = row(arm);
  if (left.status == ArmStatus::kWaiting) {
    left.status = ArmStatus::kSkipped;
    left.reason = reason;
  }
  decide(DecisionAction::kLeaveOut, arm, reason);
}

void Growth::freeze(const std::string& arm, const std::string& reason) { decide(DecisionAction::kFreeze, arm, reason); }

void Growth::stop(const std::string& reason) {
  const auto has_run = [&](const ArmRow& arm) {
    return std::any_of(plan_.trials.begin(), plan_.trials.end(), [&](const auto& trial) { return trial.group_id == arm.group_id; });
  };
  const std::string why = "not needed: " + reason;
  for (ArmRow& arm : plan_.arms) {
    if (arm.status != ArmStatus::kWaiting) continue;
    arm.status = ArmStatus::kSkipped;
    arm.reason = why;
    if (has_run(arm)) decide(DecisionAction::kLeaveOut, arm.arm, why);
  }
  decide(DecisionAction::kStop, "", reason);
}

void Growth::add(const plan::Blocks& blocks) {
  for (protocol::Trial& trial : plan::make_trials(plan_, plan_.trials.front(), blocks)) plan_.trials.push_back(std::move(trial));
}

ArmRow& Growth::row(const std::string& arm) {
  const auto found = std::find_if(plan_.arms.begin(), plan_.arms.end(), [&](const ArmRow& each) { return each.arm == arm; });
  if (found == plan_.arms.end()) throw std::logic_error("the plan has no arm " + arm);
  return *found;
}

void Growth::decide(DecisionAction action, const std::string& arm, const std::string& reason) {
  plan_.decisions.push_back({round_, action, arm, reason});
}

}  // namespace rematch::strategy
