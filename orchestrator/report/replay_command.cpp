#include "orchestrator/base/shell_text.h"
#include "orchestrator/report/detail_tables.h"

namespace rematch::report {

std::string replay_command(const base::AttemptRows& attempt) {
  const protocol::LaunchRecord& launch = attempt.launch;
  if (launch.command.empty()) return "";
  std::string ranks;
  for (const base::RankRows& rank : attempt.ranks) ranks += " " + std::to_string(rank.rank);
  std::string command = "for r in" + ranks + "; do env";
  for (const auto& [name, value] : launch.environment) command += " " + name + "=" + base::shell_quoted(value);
  command += " RANK=$r LOCAL_RANK=$r";
  return command + " " + base::shell_command(launch.command) + " & done; wait";
}

}  // namespace rematch::report
