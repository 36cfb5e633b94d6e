#include "orchestrator/report/detail_tables.h"

namespace rematch::report {

namespace {

std::string shell_quoted(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-") ==
                                             std::string::npos;
  if (is_plain) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string replay_command(const base::AttemptRows& attempt) {
  const protocol::LaunchRecord& launch = attempt.launch;
  if (launch.command.empty()) return "";
  std::string ranks;
  for (const base::RankRows& rank : attempt.ranks) ranks += " " + std::to_string(rank.rank);
  std::string command = "for r in" + ranks + "; do env";
  for (const auto& [name, value] : launch.environment) command += " " + name + "=" + shell_quoted(value);
  command += " RANK=$r LOCAL_RANK=$r";
  for (const std::string& word : launch.command) command += " " + shell_quoted(word);
  return command + " & done; wait";
}

}  // namespace rematch::report
