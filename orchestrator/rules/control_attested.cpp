#include "orchestrator/rules/control_attested.h"

#include <string>

namespace rematch::rules {

namespace {

bool is_empty_control(const protocol::RecomputeSpec& resolved) {
  if (!resolved.recompute_granularity) return !resolved.recompute_modules || resolved.recompute_modules->empty();
  return *resolved.recompute_granularity == "selective" && resolved.recompute_modules && resolved.recompute_modules->empty();
}

std::string describe(const protocol::RecomputeSpec& resolved) {
  std::string modules;
  if (resolved.recompute_modules)
    for (const std::string& label : *resolved.recompute_modules) modules += (modules.empty() ? "" : ", ") + label;
  const std::string list = resolved.recompute_modules ? "[" + modules + "]" : "unset";
  return "recompute_granularity " + resolved.recompute_granularity.value_or("null") + ", recompute_modules " + list;
}

}  // namespace

std::optional<base::Shortfall> control_refuted(const base::AttemptRows& attempt) {
  for (const base::RankRows& rank : attempt.ranks) {
    const std::string who = "rank " + std::to_string(rank.rank);
    if (rank.hello && !is_empty_control(rank.hello->resolved_recompute))
      return base::Shortfall{"control_attested",
                             who + " resolved " + describe(rank.hello->resolved_recompute) + "; a control has selective with [], or null"};
    for (const protocol::StepRecord& step : rank.steps)
      for (const auto& [label, num_replays] : step.replays)
        if (num_replays != 0)
          return base::Shortfall{"control_attested", who + " replayed " + label + " " + std::to_string(num_replays) + " times in step " +
                                                         std::to_string(step.step) + "; a control replays nothing"};
  }
  return std::nullopt;
}

}  // namespace rematch::rules
