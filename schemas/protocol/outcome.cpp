#include "schemas/protocol/outcome.h"

namespace rematch::protocol {

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kSpawned: return "spawned";
    case Stage::kJoined: return "joined";
    case Stage::kBuilt: return "built";
    case Stage::kFirstForward: return "first_forward";
    case Stage::kFirstBackward: return "first_backward";
    case Stage::kFirstGradSync: return "first_grad_sync";
    case Stage::kOptimizerInit: return "optimizer_init";
    case Stage::kWarm: return "warm";
    case Stage::kSteady: return "steady";
    case Stage::kDone: return "done";
  }
  return "unknown";
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kBuild: return "build";
    case Phase::kForward: return "forward";
    case Phase::kBackward: return "backward";
    case Phase::kGradSync: return "grad_sync";
    case Phase::kOptimizerInit: return "optimizer_init";
    case Phase::kOptimizer: return "optimizer";
    case Phase::kGraphCapture: return "graph_capture";
    case Phase::kOther: return "other";
  }
  return "unknown";
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::kParameters: return "parameters";
    case Role::kGradients: return "gradients";
    case Role::kOptimizerState: return "optimizer_state";
    case Role::kActivations: return "activations";
    case Role::kLogitsAndLoss: return "logits_and_loss";
    case Role::kCommunication: return "communication";
    case Role::kTemporaries: return "temporaries";
  }
  return "unknown";
}

std::string_view to_string(FailureKind kind) {
  switch (kind) {
    case FailureKind::kOom: return "oom";
    case FailureKind::kHostOom: return "host_oom";
    case FailureKind::kComm: return "comm";
    case FailureKind::kTimeout: return "timeout";
    case FailureKind::kNumerics: return "numerics";
    case FailureKind::kCrashed: return "crashed";
    case FailureKind::kBadExit: return "bad_exit";
    case FailureKind::kLaunch: return "launch";
    case FailureKind::kPreempted: return "preempted";
    case FailureKind::kNodeFail: return "node_fail";
    case FailureKind::kInterrupted: return "interrupted";
    case FailureKind::kLost: return "lost";
  }
  return "unknown";
}

std::string_view to_string(Provenance provenance) {
  switch (provenance) {
    case Provenance::kMeasured: return "measured";
    case Provenance::kModelledDevice: return "modelled-device";
    case Provenance::kPredicted: return "predicted";
    case Provenance::kPublished: return "published";
  }
  return "unknown";
}

namespace {

template <typename Values>
auto parse_by_name(const Values& values, std::string_view name) -> std::optional<typename Values::value_type> {
  for (auto value : values)
    if (to_string(value) == name) return value;
  return std::nullopt;
}

}  // namespace

std::optional<Stage> parse_stage(std::string_view name) { return parse_by_name(kAllStages, name); }
std::optional<Phase> parse_phase(std::string_view name) { return parse_by_name(kAllPhases, name); }
std::optional<Role> parse_role(std::string_view name) { return parse_by_name(kAllRoles, name); }
std::optional<FailureKind> parse_failure_kind(std::string_view name) { return parse_by_name(kAllFailureKinds, name); }
std::optional<Provenance> parse_provenance(std::string_view name) { return parse_by_name(kAllProvenances, name); }

}  // namespace rematch::protocol
