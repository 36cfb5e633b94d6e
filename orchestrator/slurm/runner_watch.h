// The newest runner record of each part of a study, and whether it changes: a runner lives as long as its heartbeat does, by this
// process's own clock, since clocks of hosts differ. Reads runners/; a file that has not changed is not read again. One thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "schemas/protocol/runner_record.h"

namespace rematch::slurm {

// A runner writes every 5 s; a shared file system may show it later.
inline constexpr std::chrono::seconds kHeartbeatStands{60};

class RunnerWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RunnerWatch(std::filesystem::path runners_folder) : folder_(std::move(runners_folder)) {}

  // The scopes of which a runner has come or ended.
  std::set<std::string> look(Time now);
  // nullptr: nobody has claimed that part.
  const protocol::RunnerRecord* newest(const std::string& scope) const;
  bool is_alive(const std::string& scope, Time now) const;
  // Whether a runner of that submission has been seen in any part.
  bool has_run(const std::string& submission) const;

 private:
  struct Seen {
    std::filesystem::path path;
    std::filesystem::file_time_type write_time;
    protocol::RunnerRecord record;
    Time change;  // of its heartbeat
  };
  std::optional<std::string> take(const std::filesystem::path& path, Time now);

  std::filesystem::path folder_;
  std::map<std::string, Seen> by_scope_;
  std::map<std::filesystem::path, std::string> submission_of_;  // every record that was ever read
};

}  // namespace rematch::slurm
