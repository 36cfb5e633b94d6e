// The progress of a run on stderr: one line that is rewritten on a terminal, one plain line a trial elsewhere, nothing but remarks under
// -q, each rank's end besides under -v.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "orchestrator/cli/terminal.h"
#include "orchestrator/engine/listener.h"

namespace rematch::cli {

enum class Chatter { kQuiet, kNormal, kVerbose };

// By -q and -v.
Chatter chatter_of(int verbosity);

// Lines on stderr, the last of which may be one that is rewritten; that one is wiped before another is printed, and at the end.
class ProgressLine {
 public:
  ProgressLine(std::ostream& err, const Terminal& terminal) : err_(err), terminal_(terminal) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  const Terminal& terminal() const { return terminal_; }
  void rewrite(const std::string& line);  // cut to the terminal's width
  void print(const std::string& line);

 private:
  std::ostream& err_;
  Terminal terminal_;
  bool is_open_ = false;
};

class ProgressPrinter final : public engine::Listener {
 public:
  ProgressPrinter(std::ostream& err, const Terminal& terminal, Chatter chatter) : line_(err, terminal), chatter_(chatter) {}

  void trial_started(const engine::TrialPlace& place) override;
  void trial_progressed(const engine::TrialPlace& place, const engine::TrialProgress& progress) override;
  void trial_ended(const engine::TrialPlace& place, const base::AttemptRows& attempt) override;
  void remarked(const std::string& message) override;

 private:
  void rewrite(const std::string& line);

  ProgressLine line_;
  Chatter chatter_;
};

// "12/14 moe_act, block 1, slot 3": where a trial stands in its study.
std::string place_text(const engine::TrialPlace& place);
// "step 4 of 20, hot rank's peak 123.4 MB, 2 min 10 s left"; what is not known is left out.
std::string progress_text(const protocol::Trial& trial, const engine::TrialProgress& progress);
// "all ranks ended well" or "oom at first_backward, step 0, rank 1: message".
std::string ending_text(const base::AttemptRows& attempt);
// "  rank 1: pid 17, exit code 0, 2.1 s, record complete"
std::string rank_text(const base::RankRows& rank);
// From the start of the first rank to the end of the last, by the monotonic clock; nullopt when none was started.
std::optional<double> seconds_of(const base::AttemptRows& attempt);
std::string duration_text(double seconds);

}  // namespace rematch::cli
