// Which logs there are of an attempt and of a study's jobs, and what is said of each above its lines. Reads launch.json and submissions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/log_file.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::cli {

struct LogSource {
  std::string title;
  LogFile file;
};

// nullopt: the attempt still runs, or its supervisor died without a word.
std::optional<protocol::LaunchRecord> read_launch_if_there(const std::filesystem::path& attempt_folder);

// The rank that failed first, then the others by number. `only`: that one.
std::vector<LogSource> rank_logs(const std::filesystem::path& attempt_folder, const protocol::Trial& trial,
                                 std::optional<std::int64_t> only);

// What the jobs of each submission print, in order of submission and array index; those of one element that have not begun too.
std::vector<LogSource> job_logs(const std::filesystem::path& study_folder);
bool all_jobs_are_closed(const std::filesystem::path& study_folder);

// "running", "ended: all ranks exited", "ended: rank_failed, rank 1 first: exit code 12"
std::string end_text(const std::optional<protocol::LaunchRecord>& launch);

}  // namespace rematch::cli
