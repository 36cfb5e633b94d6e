#include "orchestrator/engine/record_tail.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::engine {

namespace {

constexpr std::streamoff kTailBytes = std::streamoff{32} * 1024;  // several step lines

std::string read_tail(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff length = file.tellg();
  const std::streamoff wanted = std::min(length, kTailBytes);
  std::string text(static_cast<std::size_t>(wanted), '\0');
  file.seekg(length - wanted);
  file.read(text.data(), wanted);
  return text;
}

std::optional<protocol::StepRecord> as_step(const std::string& line) {
  try {
    auto record = protocol::parse_line(line);
    if (auto* step = std::get_if<protocol::StepRecord>(&record)) return std::move(*step);
  } catch (const protocol::DocumentError&) {
    return std::nullopt;  // a damaged line: collect reports it when the trial has ended
  }
  return std::nullopt;
}

// The last whole line that is a step.
std::optional<protocol::StepRecord> last_step(const std::string& tail) {
  std::size_t line_end = tail.rfind('\n');
  while (line_end != std::string::npos && line_end > 0) {
    const std::size_t before = tail.rfind('\n', line_end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    if (auto step = as_step(tail.substr(begin, line_end - begin))) return step;
    line_end = before;
  }
  return std::nullopt;
}

}  // namespace

RunningSteps read_running_steps(const std::filesystem::path& attempt_folder, const protocol::Trial& trial) {
  RunningSteps running;
  const protocol::AttemptPaths paths{attempt_folder};
  const std::vector<std::int64_t> ranks = protocol::started_ranks(trial);
  std::int64_t num_steps = 0;
  for (std::int64_t rank : ranks) {
    const auto step = last_step(read_tail(paths.rank_record(rank)));
    if (!step) continue;
    if (rank == ranks.front() || trial.prediction) num_steps += step->step + 1;
    running.hot_peak_allocated_bytes = std::max(running.hot_peak_allocated_bytes.value_or(0), step->lifetime_peak_allocated_bytes);
  }
  running.num_steps_completed = trial.prediction ? num_steps / static_cast<std::int64_t>(ranks.size()) : num_steps;
  return running;
}

}  // namespace rematch::engine
