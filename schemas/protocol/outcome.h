// The vocabulary both programs share: stages, phases, roles of memory, failure kinds, provenance and the trainer's exit codes.
// Who calls it: everybody. Threads: pure values. Failure: parse functions return nullopt on an unknown name.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rematch::protocol {

// How far a rank got, in order. A rank writes a stage record on entry and on exit.
enum class Stage {
  kSpawned,
  kJoined,
  kBuilt,
  kFirstForward,
  kFirstBackward,
  kFirstGradSync,
  kOptimizerInit,
  kWarm,
  kSteady,
  kDone,
};
inline constexpr std::array<Stage, 10> kAllStages = {
    Stage::kSpawned,       Stage::kJoined,        Stage::kBuilt, Stage::kFirstForward, Stage::kFirstBackward,
    Stage::kFirstGradSync, Stage::kOptimizerInit, Stage::kWarm,  Stage::kSteady,       Stage::kDone};

// What a rank was doing when a peak occurred.
enum class Phase { kBuild, kForward, kBackward, kGradSync, kOptimizerInit, kOptimizer, kGraphCapture, kOther };
inline constexpr std::array<Phase, 8> kAllPhases = {Phase::kBuild,         Phase::kForward,   Phase::kBackward,     Phase::kGradSync,
                                                    Phase::kOptimizerInit, Phase::kOptimizer, Phase::kGraphCapture, Phase::kOther};

// What live memory is for. Each byte has one role.
enum class Role {
  kParameters,      // parameter buffers
  kGradients,       // gradient buffers, fp32 gradient copies
  kOptimizerState,  // fp32 main weights, moments
  kActivations,     // allocated in forward, or in a replay of it
  kLogitsAndLoss,   // head and cross-entropy
  kCommunication,   // buffers of collectives that nothing keeps
  kTemporaries,     // allocated in backward outside of replays, and the rest
};
inline constexpr std::array<Role, 7> kAllRoles = {Role::kParameters,    Role::kGradients,     Role::kOptimizerState, Role::kActivations,
                                                  Role::kLogitsAndLoss, Role::kCommunication, Role::kTemporaries};

// Why an attempt did not finish.
enum class FailureKind {
  kOom,
  kHostOom,
  kComm,
  kTimeout,
  kNumerics,
  kCrashed,
  kBadExit,
  kLaunch,
  kPreempted,
  kNodeFail,
  kInterrupted,
  kLost,
};
inline constexpr std::array<FailureKind, 12> kAllFailureKinds = {FailureKind::kOom,      FailureKind::kHostOom,     FailureKind::kComm,
                                                                 FailureKind::kTimeout,  FailureKind::kNumerics,    FailureKind::kCrashed,
                                                                 FailureKind::kBadExit,  FailureKind::kLaunch,      FailureKind::kPreempted,
                                                                 FailureKind::kNodeFail, FailureKind::kInterrupted, FailureKind::kLost};

// Where a number comes from. Two kinds never share a column of a table.
enum class Provenance { kMeasured, kModelledDevice, kPredicted, kPublished };
inline constexpr std::array<Provenance, 4> kAllProvenances = {Provenance::kMeasured, Provenance::kModelledDevice, Provenance::kPredicted,
                                                              Provenance::kPublished};

// Exit codes of rematch-train. Codes below 10 other than 0 are never used on purpose.
enum class TrainExit : int {
  kDone = 0,
  kOutOfMemory = 10,
  kNumerics = 11,
  kCommunication = 12,
  kBadTrial = 13,
  kDeadline = 14,
  kInterrupted = 15,
  kInternal = 70,
};

std::string_view to_string(Stage stage);
std::string_view to_string(Phase phase);
std::string_view to_string(Role role);
std::string_view to_string(FailureKind kind);
std::string_view to_string(Provenance provenance);

std::optional<Stage> parse_stage(std::string_view name);
std::optional<Phase> parse_phase(std::string_view name);
std::optional<Role> parse_role(std::string_view name);
std::optional<FailureKind> parse_failure_kind(std::string_view name);
std::optional<Provenance> parse_provenance(std::string_view name);

}  // namespace rematch::protocol
