// The progress of a run on stderr: one line that is rewritten on a terminal; elsewhere a plain line a trial, and one every half minute
// while it lasts. Nothing but remarks under -q, each rank's end besides under -v.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/cli/fitted_line.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/engine/listener.h"

namespace rematch::cli {

enum class Chatter { kQuiet, kNormal, kVerbose };

// By -q and -v.
Chatter chatter_of(int verbosity);

// Lines on stderr, the last of which may be one that is rewritten; that one is wiped before another is printed, and at the end.
class ProgressLine {
 public:
  using Columns = std::function<int()>;

  // `columns` is asked anew for each line, since a terminal may be resized; without it the width is what `terminal` says.
  ProgressLine(std::ostream& err, const Terminal& terminal, Columns columns = {})
      : err_(err), terminal_(terminal), columns_(std::move(columns)) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  const Terminal& terminal() const { return terminal_; }
  // Both fit their line into the terminal's width: parts that matter least go first. `print` only where lines are rewritten; a file has
  // all.
  void rewrite(const Line& line);
  void print(const Line& line);
  void print(const std::string& line);  // as it is

 private:
  int num_columns() const { return columns_ ? columns_() : terminal_.num_columns; }
  void wipe();

  std::ostream& err_;
  Terminal terminal_;
  Columns columns_;
  int open_width_ = 0;  // of the line that is rewritten; 0: there is none
};

// Of the trials that ended well in this run the one with the lowest peak.
struct BestTrial {
  std::string arm;
  std::int64_t peak_allocated_bytes = 0;
  std::optional<double> step_time_ns;
};

class ProgressPrinter final : public engine::Listener {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  ProgressPrinter(std::ostream& err, const Terminal& terminal, Chatter chatter, ProgressLine::Columns columns = {},
                  Clock now = std::chrono::steady_clock::now)
      : line_(err, terminal, std::move(columns)), chatter_(chatter), now_(std::move(now)) {}

  void trial_started(const engine::TrialPlace& place) override;
  void trial_progressed(const engine::TrialPlace& place, const engine::TrialProgress& progress) override;
  void trial_ended(const engine::TrialPlace& place, const base::AttemptRows& attempt) override;
  void remarked(const std::string& message) override;

 private:
  void take_best(const base::AttemptRows& attempt);

  ProgressLine line_;
  Chatter chatter_;
  Clock now_;
  std::chrono::steady_clock::time_point last_line_;  // of a plain log
  std::optional<BestTrial> best_;
};

// Its parts, for a line that may be short of room.
Line place_line(const engine::TrialPlace& place);
Line progress_line(const engine::TrialPlace& place, const engine::TrialProgress& progress, const std::optional<BestTrial>& best);
Line ending_line(const engine::TrialPlace& place, const base::AttemptRows& attempt);

// "12/14 moe_act, block 1, slot 3": where a trial stands in its study.
std::string place_text(const engine::TrialPlace& place);
// "oom at first_backward, step 0, rank 1"
std::string failure_place_text(const base::Failure& failure);
// "all ranks ended well" or "oom at first_backward, step 0, rank 1: message".
std::string ending_text(const base::AttemptRows& attempt);
// "  rank 1: pid 17, exit code 0, 2.1 s, record complete"
std::string rank_text(const base::RankRows& rank);
// From the start of the first rank to the end of the last, by the monotonic clock; nullopt when none was started.
std::optional<double> seconds_of(const base::AttemptRows& attempt);
std::string duration_text(double seconds);

}  // namespace rematch::cli
