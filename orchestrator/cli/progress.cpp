#include "orchestrator/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

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
  if (is_open_) err_ << "\r\x1b[2K" << std::flush;
}

void ProgressLine::rewrite(const std::string& line) {
  err_ << "\r\x1b[2K" << line.substr(0, static_cast<std::size_t>(terminal_.num_columns) - 1) << std::flush;
  is_open_ = true;
}

void ProgressLine::print(const std::string& line) {
  if (is_open_) err_ << "\r\x1b[2K";
  is_open_ = false;
  err_ << line << "\n" << std::flush;
}

void ProgressPrinter::trial_started(const engine::TrialPlace& place) {
  if (line_.terminal().rewrites_lines) rewrite(place_text(place));
}

void ProgressPrinter::trial_progressed(const engine::TrialPlace& place, const engine::TrialProgress& progress) {
  if (line_.terminal().rewrites_lines) rewrite(place_text(place) + ": " + progress_text(place.trial, progress));
}

void ProgressPrinter::trial_ended(const engine::TrialPlace& place, const base::AttemptRows& attempt) {
  if (chatter_ == Chatter::kQuiet) return;
  const auto seconds = seconds_of(attempt);
  line_.print(place_text(place) + ": " + toned(ending_text(attempt), attempt.failure ? Tone::kBad : Tone::kGood, line_.terminal()) +
              (seconds ? toned(" (" + duration_text(*seconds) + ")", Tone::kFaint, line_.terminal()) : ""));
  if (chatter_ != Chatter::kVerbose) return;
  line_.print("  trial " + attempt.trial.trial_id + ", supervisor pid " + std::to_string(attempt.launch.supervisor_pid) +
              ", other processes ended: " + std::to_string(attempt.launch.strays_ended));
  for (const base::RankRows& rank : attempt.ranks) line_.print(rank_text(rank));
}

void ProgressPrinter::remarked(const std::string& message) { line_.print("rematch: " + message); }

void ProgressPrinter::rewrite(const std::string& line) {
  if (chatter_ != Chatter::kQuiet) line_.rewrite(line);
}

std::string place_text(const engine::TrialPlace& place) {
  std::string text = std::to_string(place.number) + "/" + std::to_string(place.num_trials) + " " + place.trial.arm + ", block " +
                     std::to_string(place.trial.block) + ", slot " + std::to_string(place.trial.slot);
  if (place.attempt > 1) text += ", attempt " + std::to_string(place.attempt);
  return text;
}

std::string progress_text(const protocol::Trial& trial, const engine::TrialProgress& progress) {
  std::string text = "step " + std::to_string(progress.num_steps_completed) + " of " + std::to_string(trial.training.train_iters);
  if (progress.hot_peak_allocated_bytes)
    text += ", hot rank's peak " + one_decimal(static_cast<double>(*progress.hot_peak_allocated_bytes) / 1e6, "MB");
  if (progress.remaining_s) text += ", " + duration_text(*progress.remaining_s) + " left";
  return text;
}

std::string ending_text(const base::AttemptRows& attempt) {
  if (!attempt.failure) return "all ranks ended well";
  const base::Failure& failure = *attempt.failure;
  std::string text = std::string(protocol::to_string(failure.kind)) + " at " + std::string(protocol::to_string(failure.stage));
  if (failure.step) text += ", step " + std::to_string(*failure.step);
  text += ", rank " + std::to_string(failure.rank);
  if (!failure.message.empty()) text += ": " + failure.message;
  return text;
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
