#include "orchestrator/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "orchestrator/cli/display_width.h"
#include "orchestrator/rules/pass.h"
#include "orchestrator/rules/run_figures.h"

namespace rematch::cli {

namespace {

std::string one_decimal(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f %s", value, unit);
  return text;
}

}  // namespace

Chatter chatter_of(int verbosity) {
  if (verbosity == 0) return Chatter::kNormal;
  return verbosity < 0 ? Chatter::kQuiet : Chatter::kVerbose;
}

ProgressLine::~ProgressLine() {
  wipe();
  err_ << std::flush;
}

// A terminal that became narrower has broken the line into several.
void ProgressLine::wipe() {
  if (open_width_ == 0) return;
  const int rows_above = (open_width_ - 1) / std::max(1, num_columns());
  if (rows_above > 0)
    err_ << "\r\x1b[" << rows_above << "A\x1b[J";
  else
    err_ << "\r\x1b[2K";
  open_width_ = 0;
}

// The last column stays free: some terminals break the line when it is written.
void ProgressLine::rewrite(const Line& line) {
  wipe();
  const int num_columns_free = std::max(1, num_columns() - 1);
  err_ << fitted_line(line, num_columns_free, terminal_) << std::flush;
  open_width_ = std::max(1, display_width(fitted_line(line, num_columns_free, {})));
}

void ProgressLine::print(const Line& line) {
  print(terminal_.rewrites_lines ? fitted_line(line, std::max(1, num_columns() - 1), terminal_) : whole_line(line, terminal_));
}

void ProgressLine::print(const std::string& line) {
  wipe();
  err_ << line << "\n" << std::flush;
}

void ProgressPrinter::trial_started(const engine::TrialPlace& place) {
  last_line_ = now_();
  if (line_.terminal().rewrites_lines && chatter_ != Chatter::kQuiet) line_.rewrite(place_line(place));
}

void ProgressPrinter::trial_progressed(const engine::TrialPlace& place, const engine::TrialProgress& progress) {
  constexpr std::chrono::seconds kQuietest{30};
  if (chatter_ == Chatter::kQuiet) return;
  const Line line = progress_line(place, progress, best_);
  if (line_.terminal().rewrites_lines) {
    line_.rewrite(line);
    return;
  }
  if (now_() - last_line_ < kQuietest) return;
  last_line_ = now_();
  line_.print(line);
}

void ProgressPrinter::trial_ended(const engine::TrialPlace& place, const base::AttemptRows& attempt) {
  take_best(attempt);
  if (chatter_ == Chatter::kQuiet) return;
  line_.print(ending_line(place, attempt));
  if (chatter_ != Chatter::kVerbose) return;
  line_.print("  trial " + attempt.trial.trial_id + ", supervisor pid " + std::to_string(attempt.launch.supervisor_pid) +
              ", other processes ended: " + std::to_string(attempt.launch.strays_ended));
  for (const base::RankRows& rank : attempt.ranks) line_.print(rank_text(rank));
}

void ProgressPrinter::take_best(const base::AttemptRows& attempt) {
  if (attempt.failure || attempt.ranks.empty() || !rules::pass_shortfalls(attempt).empty()) return;
  const base::RunFigures figures = rules::run_figures(attempt);
  if (best_ && best_->peak_allocated_bytes <= figures.hot.allocated_bytes) return;
  best_ = BestTrial{attempt.trial.arm, figures.hot.allocated_bytes, figures.median_step_time_ns};
}

void ProgressPrinter::remarked(const std::string& message) { line_.print("rematch: " + message); }

std::string place_text(const engine::TrialPlace& place) { return whole_line(place_line(place), {}); }

namespace {

// What goes first where room is short has the least.
enum Weight { kSlot, kAttempt, kMessage, kBlock, kBest, kPeak, kLeft, kStep, kEnding, kPlace };
enum Group { kWhere, kHow };

std::string clipped_duration(double seconds) {
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return std::to_string(whole / 60) + "m" + std::to_string(whole % 60) + "s";
  return std::to_string(whole / 3600) + "h" + std::to_string(whole % 3600 / 60) + "m";
}

std::string megabytes(std::int64_t bytes) { return one_decimal(static_cast<double>(bytes) / 1e6, "MB"); }

std::string best_text(const BestTrial& best) {
  return "best so far " + best.arm + " with " + megabytes(best.peak_allocated_bytes) +
         (best.step_time_ns ? " and " + one_decimal(*best.step_time_ns / 1e6, "ms") + " a step" : "");
}

}  // namespace

Line place_line(const engine::TrialPlace& place) {
  Line line = {{.text = std::to_string(place.number) + "/" + std::to_string(place.num_trials) + " " + place.trial.arm, .weight = kPlace},
               {.text = "block " + std::to_string(place.trial.block), .weight = kBlock},
               {.text = "slot " + std::to_string(place.trial.slot), .weight = kSlot}};
  if (place.attempt > 1) line.push_back({.text = "attempt " + std::to_string(place.attempt), .weight = kAttempt});
  return line;
}

Line progress_line(const engine::TrialPlace& place, const engine::TrialProgress& progress, const std::optional<BestTrial>& best) {
  Line line = place_line(place);
  const std::string done = std::to_string(progress.num_steps_completed);
  const std::string all = std::to_string(place.trial.training.train_iters);
  line.push_back({.text = "step " + done + " of " + all, .brief = "step " + done + "/" + all, .weight = kStep, .group = kHow});
  if (progress.hot_peak_allocated_bytes) {
    const std::string peak = megabytes(*progress.hot_peak_allocated_bytes);
    line.push_back({.text = "hot rank's peak " + peak, .brief = "peak " + peak, .weight = kPeak, .group = kHow});
  }
  if (progress.remaining_s)
    line.push_back({.text = duration_text(*progress.remaining_s) + " left",
                    .brief = clipped_duration(*progress.remaining_s) + " left",
                    .weight = kLeft,
                    .group = kHow});
  if (best)
    line.push_back({.text = best_text(*best),
                    .brief = "best " + best->arm + " " + megabytes(best->peak_allocated_bytes),
                    .weight = kBest,
                    .group = kHow});
  return line;
}

Line ending_line(const engine::TrialPlace& place, const base::AttemptRows& attempt) {
  Line line = place_line(place);
  const auto seconds = seconds_of(attempt);
  const std::string took = seconds ? " (" + duration_text(*seconds) + ")" : "";
  if (!attempt.failure) {
    line.push_back(
        {.text = ending_text(attempt) + took, .brief = "ended well" + took, .weight = kEnding, .group = kHow, .tone = Tone::kGood});
    return line;
  }
  const base::Failure& failure = *attempt.failure;
  line.push_back({.text = failure_place_text(failure) + took, .weight = kEnding, .group = kHow, .tone = Tone::kBad});
  line.push_back({.text = failure.message, .weight = kMessage, .group = kHow + 1, .may_be_cut = true, .tone = Tone::kBad});
  return line;
}

std::string failure_place_text(const base::Failure& failure) {
  std::string text = std::string(protocol::to_string(failure.kind)) + " at " + std::string(protocol::to_string(failure.stage));
  if (failure.step) text += ", step " + std::to_string(*failure.step);
  return text + ", rank " + std::to_string(failure.rank);
}

std::string ending_text(const base::AttemptRows& attempt) {
  if (!attempt.failure) return "all ranks ended well";
  return failure_place_text(*attempt.failure) + (attempt.failure->message.empty() ? "" : ": " + attempt.failure->message);
}

std::string rank_text(const base::RankRows& rank) {
  const protocol::RankExit& exit = rank.exit;
  std::string text = "  rank " + std::to_string(rank.rank) + ": ";
  if (exit.pid == 0) return text + "never started";
  text += "pid " + std::to_string(exit.pid);
  if (exit.exit_code) text += ", exit code " + std::to_string(*exit.exit_code);
  if (exit.signal) text += ", signal " + std::to_string(*exit.signal);
  if (exit.ended_by_supervisor) text += " (ended by the supervisor)";
  if (exit.end_mono_ns > 0) text += ", " + duration_text(static_cast<double>(exit.end_mono_ns - exit.start_mono_ns) / 1e9);
  text += rank.record_complete ? ", record complete" : ", record incomplete";
  for (const std::string& problem : rank.record_problems) text += "; " + problem;
  return text;
}

std::optional<double> seconds_of(const base::AttemptRows& attempt) {
  std::optional<std::int64_t> begin;
  std::int64_t end = 0;
  for (const protocol::RankExit& rank : attempt.launch.ranks) {
    if (rank.pid == 0) continue;
    begin = std::min(begin.value_or(rank.start_mono_ns), rank.start_mono_ns);
    end = std::max(end, rank.end_mono_ns);
  }
  if (!begin || end < *begin) return std::nullopt;
  return static_cast<double>(end - *begin) / 1e9;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return one_decimal(seconds, "s");
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace rematch::cli
