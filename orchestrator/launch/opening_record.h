// What a supervisor knows of its attempt before it starts a rank: the beginning of its launch record.
#pragma once

#include "orchestrator/launch/rank_share.h"
#include "orchestrator/launch/supervise_command.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::launch {

// With the ranks of the share, none of them started, and the node and allocation that the environment tells of.
protocol::LaunchRecord opening_record(const SuperviseArguments& arguments, const protocol::Trial& trial, const RankShare& share);

}  // namespace rematch::launch
