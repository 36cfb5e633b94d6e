#include "orchestrator/base/study_plan.h"

#include <array>
#include <nlohmann/json.hpp>

#include "schemas/protocol/json_fields.h"

// How the protocol's readers and writers treat the parts of a study that have documents of their own.
namespace rematch::protocol {

static void read_value(const Place& place, Trial& trial) { trial = parse_trial(place.json); }
static void write_value(Slot slot, const Trial& trial) { slot.json = to_json(trial); }
static void read_value(const Place& place, RecomputeSpec& recompute) { recompute = parse_recompute(place.json, place.path); }
static void write_value(Slot slot, const RecomputeSpec& recompute) { slot.json = to_json(recompute); }

static void read_value(const Place& place, std::uint64_t& value) {
  std::int64_t number = 0;
  read_value(place, number);
  check_at_least(place, static_cast<double>(number), 0);
  value = static_cast<std::uint64_t>(number);
}
static void write_value(Slot slot, std::uint64_t value) { write_value(slot, static_cast<std::int64_t>(value)); }

}  // namespace rematch::protocol

namespace rematch::base {

using protocol::at_least;
using protocol::hex_digits;
using protocol::Is;
using protocol::not_empty;

static void read_value(const protocol::Place& place, ArmStatus& status) {
  using enum ArmStatus;
  status = protocol::read_named(place, std::array{kPlanned, kInactive, kInvalid, kSkipped, kWaiting});
}

static void read_value(const protocol::Place& place, DecisionAction& action) {
  using enum DecisionAction;
  action = protocol::read_named(place, std::array{kTake, kLeaveOut, kFreeze, kStop});
}

template <typename Visitor, Is<Decision> Taken>
void visit_fields(Visitor& field, Taken& decision) {
  field("round", decision.round, at_least(0));
  field("action", decision.action);
  field("arm", decision.arm);
  field("reason", decision.reason, not_empty());
}

template <typename Visitor, Is<ArmRow> Arm>
void visit_fields(Visitor& field, Arm& arm) {
  field("arm", arm.arm, not_empty());
  field("group_id", arm.group_id, hex_digits(16));
  field("variation", arm.variation);
  field("is_control", arm.is_control);
  field("recompute", arm.recompute);
  field("status", arm.status);
  field("reason", arm.reason);
  field("rule_ids", arm.rule_ids);
  field("expected_sites", arm.expected_sites);
}

template <typename Visitor, Is<StudyPlan> Plan>
void visit_fields(Visitor& field, Plan& plan) {
  field.constant("schema", kStudySchema);
  field("study_id", plan.study_id, hex_digits(16));
  field("name", plan.name, not_empty());
  field("sweep_path", plan.sweep_path);
  field("sweep_text", plan.sweep_text);
  field("trainer_build_id", plan.trainer_build_id);
  field("order_seed", plan.order_seed);
  field("num_blocks", plan.num_blocks, at_least(1));
  field("smallest_effect", plan.smallest_effect, at_least(0));
  field("budget_per_rank_bytes", plan.budget_per_rank_bytes, at_least(1));
  field("strategy", plan.strategy, protocol::one_of({"one_label", "pairs", "escalate"}));
  field("blocks_auto", plan.blocks_auto);
  field("arms", plan.arms);
  field("trials", plan.trials);
  field("decisions", plan.decisions);
}

std::string_view to_string(ArmStatus status) {
  switch (status) {
    case ArmStatus::kPlanned: return "planned";
    case ArmStatus::kInactive: return "inactive";
    case ArmStatus::kInvalid: return "invalid";
    case ArmStatus::kSkipped: return "skipped";
    case ArmStatus::kWaiting: return "waiting";
  }
  return "unknown";
}

std::string_view to_string(DecisionAction action) {
  switch (action) {
    case DecisionAction::kTake: return "take";
    case DecisionAction::kLeaveOut: return "leave_out";
    case DecisionAction::kFreeze: return "freeze";
    case DecisionAction::kStop: return "stop";
  }
  return "unknown";
}

bool awaits_decision(const StudyPlan& plan) {
  const bool decides = plan.blocks_auto || plan.strategy != "one_label";
  return decides && (plan.decisions.empty() || plan.decisions.back().action != DecisionAction::kStop);
}

nlohmann::json to_json(const StudyPlan& plan) { return protocol::json_document(plan); }

StudyPlan parse_study_plan(const nlohmann::json& document) {
  return protocol::read_document<StudyPlan>(document, "study", protocol::UnknownKeys::kRefuse);
}

StudyPlan read_study_plan(const std::string& path) {
  StudyPlan plan;
  protocol::with_json_file(path, [&](const nlohmann::json& document) { plan = parse_study_plan(document); });
  return plan;
}

}  // namespace rematch::base
