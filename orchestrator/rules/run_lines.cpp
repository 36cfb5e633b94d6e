#include <algorithm>
#include <array>
#include <optional>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/control_attested.h"
#include "orchestrator/rules/diagnosis_evidence.h"
#include "orchestrator/rules/inactive.h"
#include "orchestrator/rules/pass.h"
#include "orchestrator/rules/run_figures.h"
#include "orchestrator/rules/steady_steps.h"
#include "orchestrator/rules/verdict_lines.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using base::RunVerdict;

std::string counted(std::size_t number, const std::string& what) { return std::to_string(number) + " " + what + (number == 1 ? "" : "s"); }

// What the shortfalls of a rule say; empty: it is met.
std::string said_of(const std::vector<base::Shortfall>& shortfalls, const std::string& rule) {
  std::string text;
  for (const base::Shortfall& shortfall : shortfalls)
    if (shortfall.rule == rule) text += (text.empty() ? "" : "; ") + shortfall.message;
  return text;
}

std::string steady_text(const AttemptRows& attempt) {
  const std::int64_t warmup = first_step_after_warmup(attempt);
  return std::to_string(std::max<std::int64_t>(0, num_steps_completed(attempt) - warmup)) + " steps were completed after " +
         std::to_string(warmup) + " of warm-up, " + std::to_string(attempt.trial.measure.steady_steps) + " are wanted";
}

std::string plateau_text(const AttemptRows& attempt) {
  const base::RunFigures figures = run_figures(attempt);
  return "the lifetime peak of the rank nearest to the bound grew by " + base::bytes_text(figures.peak_growth_bytes) +
         " in the last third of the steps, " + base::bytes_text(figures.peak_growth_allowed_bytes) + " are allowed";
}

// In words, where each is met.
std::string met_text(const AttemptRows& attempt, const std::string& rule) {
  const std::string steps = counted(static_cast<std::size_t>(num_steps_completed(attempt)), "step");
  if (rule == "record_complete") return "the records of " + counted(attempt.ranks.size(), "rank") + " are whole";
  if (rule == "optimizer_init") return "every rank has made its optimizer's state";
  if (rule == "finite") return "losses and gradient norms of " + steps + " are finite";
  if (rule == "no_skipped_step") return "no optimizer step of " + steps + " was skipped";
  if (rule == "peak_plateau") return plateau_text(attempt);
  if (rule == "steady_steps") return steady_text(attempt);
  return steps + " were completed, as many as are wanted";  // all_steps
}

// Steps without which a condition says nothing: a plateau is looked for in the last third of them.
std::int64_t wants_steps(const std::string& rule) {
  if (rule == "peak_plateau") return 3;
  return rule == "finite" || rule == "no_skipped_step" ? 1 : 0;
}

// Such a run is none of its arm, and no number of it is shown.
bool says_nothing_of_its_arm(const RunVerdict& run) {
  return run.outcome == base::Outcome::kInactive || run.outcome == base::Outcome::kInvalid;
}

std::vector<VerdictLine> condition_lines(const AttemptRows& attempt, const RunVerdict& run) {
  static constexpr std::array kOfAnyRun = {"record_complete"};
  static constexpr std::array kMeasured = {"record_complete", "optimizer_init",  "steady_steps",
                                           "finite",          "no_skipped_step", "peak_plateau"};
  static constexpr std::array kPredicted = {"record_complete", "all_steps"};
  const std::vector<base::Shortfall> shortfalls = pass_shortfalls(attempt);
  const std::int64_t num_steps = num_steps_completed(attempt);
  const auto line = [&](const std::string& rule) {
    if (wants_steps(rule) > num_steps)
      return VerdictLine{rule, "not judged",
                         std::to_string(wants_steps(rule)) + " completed steps would tell, " + std::to_string(num_steps) + " are there"};
    const std::string missed = said_of(shortfalls, rule);
    return VerdictLine{rule, missed.empty() ? "held" : "not held", missed.empty() ? met_text(attempt, rule) : missed};
  };
  std::vector<VerdictLine> lines;
  if (says_nothing_of_its_arm(run))
    std::transform(kOfAnyRun.begin(), kOfAnyRun.end(), std::back_inserter(lines), line);
  else if (base::is_predicted(attempt.trial))
    std::transform(kPredicted.begin(), kPredicted.end(), std::back_inserter(lines), line);
  else
    std::transform(kMeasured.begin(), kMeasured.end(), std::back_inserter(lines), line);
  return lines;
}

// A control must wrap nothing, a candidate something of each of its labels.
std::optional<VerdictLine> identity_line(const AttemptRows& attempt) {
  if (attempt.trial.is_control) {
    const auto refuted = control_refuted(attempt);
    return VerdictLine{"control", refuted ? "not held" : "held", refuted ? refuted->message : "no rank wrapped or replayed anything"};
  }
  if (const auto reason = inactive_reason(attempt)) return VerdictLine{"active", "not held", *reason};
  std::string text;
  for (const std::string& label : protocol::counted_keys(attempt.trial.recompute))
    if (const std::string activity = activity_text(attempt, label); !activity.empty())
      text += (text.empty() ? "" : "; ") + label + ": " + activity;
  if (text.empty()) return std::nullopt;
  return VerdictLine{"active", "held", text};
}

VerdictLine loss_line(const AttemptRows& attempt, const RunVerdict& run) {
  if (const std::string missed = said_of(run.shortfalls, "loss_match"); !missed.empty()) return {"loss_match", "not held", missed};
  if (!run.loss_basis.empty()) return {"loss_match", "held", "losses are equal to the bit to " + run.loss_basis};
  if (base::is_predicted(attempt.trial)) return {"loss_match", "not judged", "a prediction has no losses"};
  return {"loss_match", "not judged",
          attempt.trial.is_control ? "it is the control's first run with losses, or they were compared with no other"
                                   : "its losses were compared with nothing"};
}

// nullopt: it ended well, or was fine until the supervisor ended it and nothing more is to be said.
std::string fate_of(const base::RankRows& rank) {
  const std::string name = "rank " + std::to_string(rank.rank);
  if (rank.exit.pid == 0) return name + " was never started";
  if (rank.oom) return name + " ran out of memory too";
  if (rank.exit.ended_by_supervisor) return name + " was ended by the supervisor";
  if (!rank.errors.empty()) return name + ": " + std::string(protocol::to_string(rank.errors.front().kind));
  if (rank.exit.signal) return name + " died by signal " + std::to_string(*rank.exit.signal);
  return "";
}

std::string others_text(const AttemptRows& attempt) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> fates;
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.rank != attempt.failure->rank)
      if (std::string fate = fate_of(rank); !fate.empty()) fates.push_back(std::move(fate));
  std::string text;
  for (std::size_t i = 0; i < std::min(fates.size(), kMostNamed); ++i) text += (text.empty() ? "" : ", ") + fates[i];
  if (fates.size() > kMostNamed) text += ", and " + std::to_string(fates.size() - kMostNamed) + " more ranks fell";
  return text;
}

std::string request_text_of(const base::Failure& failure) {
  const auto text = [](const std::optional<std::int64_t>& bytes) { return bytes ? base::bytes_text(*bytes) : std::string("-"); };
  if (!failure.requested_bytes) return "";
  return ": " + text(failure.requested_bytes) + " were asked for, with " + text(failure.allocated_bytes) + " allocated and " +
         text(failure.reserved_bytes) + " reserved of a limit of " + text(failure.capacity_bytes);
}

}  // namespace

std::string failure_text(const AttemptRows& attempt) {
  const base::Failure& failure = *attempt.failure;
  std::string text = "in stage " + std::string(protocol::to_string(failure.stage));
  if (failure.step) text += ", step " + std::to_string(*failure.step);
  if (failure.phase) text += ", phase " + std::string(protocol::to_string(*failure.phase));
  text += ", on rank " + std::to_string(failure.rank) + (failure.host.empty() ? "" : " of " + failure.host) + request_text_of(failure);
  if (!failure.requested_bytes && !failure.message.empty()) text += ": " + failure.message;
  const std::string others = others_text(attempt);
  return text + (others.empty() ? "; no other rank fell" : "; " + others);
}

std::vector<VerdictLine> run_lines(const AttemptRows& attempt, const RunVerdict& run) {
  std::vector<VerdictLine> lines;
  const bool is_judged = !says_nothing_of_its_arm(run);
  if (attempt.failure && is_judged)
    lines.push_back({"failure", std::string(protocol::to_string(attempt.failure->kind)), failure_text(attempt)});
  for (VerdictLine& line : condition_lines(attempt, run)) lines.push_back(std::move(line));
  if (auto line = identity_line(attempt)) lines.push_back(*std::move(line));
  if (!attempt.failure && is_judged) lines.push_back(loss_line(attempt, run));
  return lines;
}

}  // namespace rematch::rules
