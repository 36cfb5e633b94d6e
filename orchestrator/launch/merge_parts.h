// The launch record of an attempt on several nodes, from the records of its nodes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/launch/rank_share.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::launch {

// Why the launcher itself ended a step, or found it ended.
struct StepProblem {
  protocol::LaunchEnd end = protocol::LaunchEnd::kLaunchFailed;
  std::string message;
};

struct StepParts {
  std::vector<std::optional<protocol::LaunchRecord>> parts;  // by node; nullopt: its supervisor left none
  std::vector<std::string> node_names;                       // by node; may be shorter: then the number stands for the name
  std::vector<std::int64_t> failed_nodes;                    // that ended the attempt for a reason of their own, the first to say so first
  std::optional<StepProblem> problem;                        // outranks what nodes say, unless a rank failed by itself before
  std::string step_words;                                    // srun's, for a node without a part
};

// nodes, ranks, end, cause_rank, message, strays_ended, and what the nodes share. The rest is the caller's. The cause is a rank that failed
// by itself rather than one that lost its peers (exit code 12); among those of several nodes the first to be heard of. A node without a
// part ends the attempt as controller_lost.
protocol::LaunchRecord merge_parts(const protocol::Trial& trial, const StepParts& step);

}  // namespace rematch::launch
