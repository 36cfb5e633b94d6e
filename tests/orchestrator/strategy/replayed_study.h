// A study whose trials end as a table says, carried out in memory: planned, judged and extended to its end. For tests of strategies.
#pragma once

#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/plan/plan.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/strategy/extend.h"
#include "schemas/protocol/published.h"
#include "tests/orchestrator/published_trainer.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::tests {

struct Ending {
  std::optional<std::int64_t> oom_after = {};  // steps completed; nullopt: the run passes
  std::int64_t peak_bytes = 0;
  double step_time_ms = 100;
  std::optional<std::int64_t> passes_of = {};  // the first so many runs pass, the others run out of memory; nullopt: all alike
  bool is_fragmented = false;                  // of a run out of memory: enough was reserved and free, in small blocks
  protocol::Stage oom_stage = protocol::Stage::kWarm;
};

// By arm; one that is not in it runs out of memory in its first step.
using Endings = std::map<std::string, Ending>;

inline Endings endings_of(const protocol::Published& published) {
  Endings endings;
  for (const protocol::PublishedRow& row : published.rows) {
    Ending& ending = endings[row.arm.value()];
    if (row.outcome.kind == protocol::PublishedEnd::kOutOfMemory) ending.oom_after = row.outcome.iterations_completed;
    if (row.peak_allocated) ending.peak_bytes = row.peak_allocated->figure.bytes;
    if (row.step_time_ms) ending.step_time_ms = row.step_time_ms->value;
  }
  return endings;
}

inline Endings published_endings(const std::string& name) {
  return endings_of(protocol::read_published(REMATCH_SOURCE_DIR "/sweeps/published/" + name + ".json"));
}

inline base::StudyPlan published_plan(const std::string& name, const std::vector<spec::Override>& overrides,
                                      const protocol::Describe& trainer = trainer_of_published_sweeps()) {
  std::ostringstream text;
  text << std::ifstream(REMATCH_SOURCE_DIR "/sweeps/published/" + name + ".yaml").rdbuf();
  const auto parsed = spec::parse_sweep(text.str(), name + ".yaml", trainer, overrides);
  if (!parsed.problems.empty()) throw std::logic_error(spec::all_problems(parsed));
  return plan::make_plan(parsed.spec, trainer);
}

struct Replayed {
  base::StudyRows rows;
  base::StudyVerdict verdict;
  std::vector<std::size_t> num_trials;  // after each round
};

inline void run_one(StudyBuilder& builder, const protocol::Trial& trial, const Endings& endings,
                    std::map<std::string, std::int64_t>& runs) {
  const auto found = endings.find(trial.arm);
  const Ending ending = found == endings.end() ? Ending{.oom_after = 0, .peak_bytes = 70'000 * kMegabyte} : found->second;
  RunShape shape;
  shape.backward_peak_bytes = std::max(ending.peak_bytes, 1000 * kMegabyte);
  shape.forward_peak_bytes = shape.backward_peak_bytes - 100 * kMegabyte;
  shape.step_time_ns = std::llround(ending.step_time_ms * 1e6);
  shape.num_steps = trial.training.train_iters;
  const bool passes = ending.passes_of ? runs[trial.arm] < *ending.passes_of : !ending.oom_after;
  ++runs[trial.arm];
  if (passes) {
    builder.run(trial.arm, shape);
    return;
  }
  const std::int64_t step = ending.oom_after.value_or(1);
  base::AttemptRows& rows = builder.run_out_of_memory(trial.arm, step == 0 ? protocol::Stage::kFirstForward : ending.oom_stage,
                                                      protocol::Phase::kForward, step, shape);
  if (!ending.is_fragmented) return;
  protocol::OomRecord& oom = *rows.ranks.front().oom;
  oom.reserved_bytes = oom.allocated_bytes + oom.requested_bytes + kMegabyte;
  oom.largest_free_block_bytes = oom.requested_bytes / 2;
  rows.failure->reserved_bytes = oom.reserved_bytes;
}

// Starts from `plan`, which may have grown already; earlier attempts are made again, as a trainer that is deterministic makes them.
inline Replayed replay(const base::StudyPlan& plan, const Endings& endings) {
  StudyBuilder builder(plan.name);
  builder.rows() = {plan, {}};
  Replayed replayed;
  std::set<std::string> done;
  std::map<std::string, std::int64_t> runs;
  std::optional<base::StudyPlan> next = plan;
  while (next) {
    builder.plan() = *std::move(next);
    for (const protocol::Trial& trial : std::vector<protocol::Trial>(builder.plan().trials))
      if (done.insert(trial.trial_id).second) run_one(builder, trial, endings, runs);
    replayed.num_trials.push_back(builder.plan().trials.size());
    replayed.rows = builder.rows();
    replayed.verdict = rules::judge_study(replayed.rows);
    if (replayed.num_trials.size() > 20) throw std::logic_error("the strategy does not come to an end");
    next = strategy::extend(replayed.rows, replayed.verdict);
  }
  return replayed;
}

// Arms that had trials, in the order in which they first came.
inline std::vector<std::string> arms_that_ran(const base::StudyPlan& plan) {
  std::vector<std::string> arms;
  for (const protocol::Trial& trial : plan.trials)
    if (std::find(arms.begin(), arms.end(), trial.arm) == arms.end()) arms.push_back(trial.arm);
  return arms;
}

inline std::int64_t num_trials_of(const base::StudyPlan& plan, const std::string& arm) {
  return std::count_if(plan.trials.begin(), plan.trials.end(), [&](const protocol::Trial& trial) { return trial.arm == arm; });
}

// "take moe_act: ...", one a line.
inline std::string decisions_text(const base::StudyPlan& plan) {
  std::string text;
  for (const base::Decision& decision : plan.decisions)
    text += std::to_string(decision.round) + " " + std::string(base::to_string(decision.action)) + " " + decision.arm + ": " +
            decision.reason + "\n";
  return text;
}

}  // namespace rematch::tests
