#include "orchestrator/cli/prediction.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "orchestrator/base/predicted.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/report/bytes_text.h"
#include "orchestrator/rules/moved_failure.h"

namespace rematch::cli {

namespace {

std::string text_of(std::int64_t bytes) { return report::bytes_text(bytes, report::ByteUnits::kGB); }

bool is_out_of_memory(const PredictedArm& arm) { return arm.failure && arm.failure->kind == protocol::FailureKind::kOom; }

PredictedArm predicted_arm(const base::ArmVerdict& verdict, const protocol::Trial& trial) {
  PredictedArm arm;
  arm.failure = verdict.failure;
  arm.reason = verdict.reason.empty() ? std::string(to_string(verdict.outcome)) : verdict.reason;
  if (verdict.figures) arm.hot = verdict.figures->hot;
  if (arm.hot || arm.failure) arm.num_alike = base::num_alike(trial, arm.hot ? arm.hot->rank : arm.failure->rank);
  return arm;
}

Prediction prediction_of(const engine::EngineResult& result) {
  const base::StudyPlan& plan = result.study.plan;
  const protocol::Trial& trial = plan.trials.front();
  Prediction prediction{plan.study_id, trial.prediction->device, trial.backend.memory_limit_bytes, {}};
  for (const base::ArmVerdict& arm : result.verdict.arms)
    if (arm.num_planned > 0) prediction.arms[arm.arm] = predicted_arm(arm, trial);
  return prediction;
}

nlohmann::json failure_json(const PredictedArm& arm) {
  if (!arm.failure) return nullptr;
  const base::Failure& failure = *arm.failure;
  nlohmann::json document{{"kind", protocol::to_string(failure.kind)},
                          {"stage", protocol::to_string(failure.stage)},
                          {"step", nullptr},
                          {"phase", nullptr},
                          {"rank", failure.rank},
                          {"requested_bytes", nullptr},
                          {"allocated_bytes", nullptr}};
  if (failure.step) document["step"] = *failure.step;
  if (failure.phase) document["phase"] = protocol::to_string(*failure.phase);
  if (failure.requested_bytes) document["requested_bytes"] = *failure.requested_bytes;
  if (failure.allocated_bytes) document["allocated_bytes"] = *failure.allocated_bytes;
  return document;
}

nlohmann::json arm_json(const PredictedArm& arm) {
  nlohmann::json document{{"fits", nullptr},
                          {"hot_rank", nullptr},
                          {"num_alike", arm.num_alike},
                          {"binding_phase", nullptr},
                          {"peak_allocated_bytes", nullptr},
                          {"failure", failure_json(arm)}};
  if (arm.hot) {
    document["fits"] = true;
    document["hot_rank"] = arm.hot->rank;
    document["peak_allocated_bytes"] = arm.hot->allocated_bytes;
    if (arm.hot->binding_phase) document["binding_phase"] = protocol::to_string(*arm.hot->binding_phase);
  } else if (is_out_of_memory(arm)) {
    document["fits"] = false;
  }
  return document;
}

}  // namespace

std::variant<Prediction, Exit> predict(const SweepInput& simulated, const GlobalOptions& options, Streams streams) {
  ProgressPrinter progress(streams.err, decide_terminal(facts_of_stderr(), options.color),
                           options.verbosity < 0 ? Chatter::kQuiet : Chatter::kNormal, columns_of_stderr);
  const auto result = engine::carry_out(simulated.plan, {options.workspace, simulated.trainer}, progress);
  if (!result) {
    streams.err << "rematch: no prediction: " << result.error().message << "\n";
    return Exit::kEnvironment;
  }
  switch (result.value().end) {
    case engine::EngineEnd::kComplete:
    case engine::EngineEnd::kControlRefuted: return prediction_of(result.value());
    case engine::EngineEnd::kInterrupted:
    case engine::EngineEnd::kTrialsLeft: break;
  }
  streams.err << "rematch: the prediction ended with " << result.value().num_undone << " of " << simulated.plan.trials.size()
              << " trials not done; plan again to go on\n";
  return result.value().end == engine::EngineEnd::kInterrupted ? Exit::kInterrupted : Exit::kEnvironment;
}

std::string predicted_text(const Prediction& prediction, const std::string& arm) {
  const auto found = prediction.arms.find(arm);
  if (found == prediction.arms.end()) return "-";
  const PredictedArm& predicted = found->second;
  if (predicted.hot)
    return text_of(predicted.hot->allocated_bytes) + " on " + base::rank_text(predicted.hot->rank, predicted.num_alike) +
           ": predicted to fit";
  if (is_out_of_memory(predicted))
    return "will not fit: " + rules::place_of(*predicted.failure) + ", " + base::rank_text(predicted.failure->rank, predicted.num_alike);
  return "not predicted: " + predicted.reason;
}

std::string source_text(const Prediction& prediction) {
  const std::string capacity =
      prediction.capacity_bytes ? text_of(*prediction.capacity_bytes) + " for the allocator" : std::string("without a memory limit");
  return "predicted for " + prediction.device + ", " + capacity + "; study " + prediction.study_id +
         " of this workspace has the assumptions. No arm is left out for it\n";
}

nlohmann::json to_json(const Prediction& prediction) {
  nlohmann::json arms = nlohmann::json::object();
  for (const auto& [name, arm] : prediction.arms) arms[name] = arm_json(arm);
  return {{"study_id", prediction.study_id},
          {"device", prediction.device},
          {"capacity_bytes", prediction.capacity_bytes ? nlohmann::json(*prediction.capacity_bytes) : nlohmann::json()},
          {"arms", std::move(arms)}};
}

}  // namespace rematch::cli
