// The plain row structs that all stages share: a study's plan, and everything collected of one attempt of a trial.
// Values only. The protocol's records are the columns; the controller adds where they came from and how the attempt ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/outcome.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::base {

enum class ArmStatus {
  kPlanned,
  kInactive,  // the label has no region in this model
  kInvalid,   // a compatibility rule refuses it
  kSkipped,   // the strategy left it out
  kWaiting,   // the strategy has not come to it
};

struct ArmRow {
  std::string arm;  // "[]", "moe_act", "full:uniform:1", ...
  std::string group_id;
  std::string variation;  // what its group changes besides recompute: expandable_segments | cpu_offloading; empty: nothing
  bool is_control = false;
  protocol::RecomputeSpec recompute;
  ArmStatus status = ArmStatus::kPlanned;
  std::string reason;                    // why it is not planned; empty when it is
  std::vector<std::string> rule_ids;     // of an invalid or inactive arm
  protocol::LabelCounts expected_sites;  // label -> regions, from the describe document; of full recompute "full" -> groups
};

enum class DecisionAction {
  kTake,      // the arm runs, in the next round
  kLeaveOut,  // it does not
  kFreeze,    // it is decided: no further blocks
  kStop,      // the study ends
};

// What a strategy did, and why.
struct Decision {
  std::int64_t round = 0;  // 0-based: whose results it looked at
  DecisionAction action = DecisionAction::kTake;
  std::string arm;     // empty: of the whole study
  std::string reason;  // with its numbers
};

// What a sweep file became, and what its strategy has made of it so far. study.json holds it; the database's study, arm and trial tables
// are made from it.
struct StudyPlan {
  std::string study_id;  // 16 hex digits: hash of the name and the group ids
  std::string name;
  std::string sweep_path;  // as given by the user
  std::string sweep_text;  // the file, whole
  std::string trainer_build_id;
  std::uint64_t order_seed = 0;  // of the shuffles inside blocks
  std::int64_t num_blocks = 0;
  double smallest_effect = 0.02;  // fraction
  std::optional<std::int64_t> budget_per_rank_bytes;
  std::string strategy = "one_label";   // one_label | pairs | escalate
  bool blocks_auto = false;             // looks after 3, 5 and 8 blocks; num_blocks is what has been decided so far
  std::vector<ArmRow> arms;             // control first, then in the sweep's order; every arm that a strategy may come to
  std::vector<protocol::Trial> trials;  // in the order in which they run; a strategy adds to them round by round
  std::vector<Decision> decisions;      // in the order in which they were taken
};

// One rank of one attempt: its record file and its exit.
struct RankRows {
  std::int64_t rank = 0;
  std::optional<protocol::HelloRecord> hello;
  std::optional<protocol::ModelRecord> model;
  std::vector<protocol::StageRecord> stages;
  std::vector<protocol::StepRecord> steps;
  std::optional<protocol::OomRecord> oom;
  std::vector<protocol::ErrorRecord> errors;
  std::optional<protocol::ByeRecord> bye;
  protocol::RankExit exit;
  bool record_complete = false;              // bye was read, no torn tail, no bad line
  std::vector<std::string> record_problems;  // torn tail, bad lines, missing file
};

// Where and why an attempt failed: the innermost stage that the causing rank entered and did not leave.
struct Failure {
  protocol::FailureKind kind = protocol::FailureKind::kBadExit;
  protocol::Stage stage = protocol::Stage::kSpawned;
  std::optional<std::int64_t> step;
  std::optional<protocol::Phase> phase;
  std::int64_t rank = 0;  // the cause; ranks that fell after it are victims
  std::string host;
  std::optional<std::int64_t> requested_bytes;  // the four are set for oom
  std::optional<std::int64_t> allocated_bytes;
  std::optional<std::int64_t> reserved_bytes;
  std::optional<std::int64_t> capacity_bytes;
  std::string message;
};

// Everything that is known of one attempt. `failure` is null when every rank ended with exit 0 and a complete record.
struct AttemptRows {
  protocol::Trial trial;
  std::string study_id;
  std::int64_t attempt = 1;
  protocol::LaunchRecord launch;
  std::vector<RankRows> ranks;  // one a started rank, by rank: protocol::started_ranks
  std::optional<Failure> failure;
};

// nullptr: it was not started.
const RankRows* find_rank(const std::vector<RankRows>& ranks, std::int64_t rank);

// nullptr: the plan has none of that name.
const ArmRow* find_arm(const StudyPlan& plan, const std::string& arm);

// A study as the store knows it: the plan, and every attempt of its trials, ordered by block, slot and attempt.
struct StudyRows {
  StudyPlan plan;
  std::vector<AttemptRows> attempts;
};

}  // namespace rematch::base
