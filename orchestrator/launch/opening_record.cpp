#include "orchestrator/launch/opening_record.h"

#include <unistd.h>

#include "orchestrator/launch/allocation.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::launch {

protocol::LaunchRecord opening_record(const SuperviseArguments& arguments, const protocol::Trial& trial, const RankShare& share) {
  protocol::LaunchRecord record;
  record.trial_id = trial.trial_id;
  record.attempt = arguments.attempt;
  record.host = host_name();
  record.supervisor_pid = ::getpid();
  record.command = {arguments.trainer.string(), "--trial", protocol::AttemptPaths{arguments.attempt_folder}.trial().string()};
  record.start_unix_ns = unix_now_ns();
  for (std::int64_t rank : ranks_of_share(trial, share)) record.ranks.emplace_back().rank = rank;
  record.nodes = {node_from_environment(record.host)};
  record.allocation = allocation_from_environment();
  return record;
}

}  // namespace rematch::launch
