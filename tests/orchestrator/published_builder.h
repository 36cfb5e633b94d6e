// A simulated study made in code, and published tables that speak of it: for the tests of rules and of reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/published.h"
#include "tests/orchestrator/predicted_study.h"

namespace rematch::tests {

// Two ranks of one expert-parallel group.
inline protocol::Published make_published() {
  protocol::Published published;
  published.name = "simulated";
  published.source = {"A guide", "a table", "2026-08-12", std::nullopt, "24bad8e677d22625d86ef2a54c9506b6e4992c93", "2 devices"};
  published.setting.model = "Moonlight";
  published.setting.precision = "bf16";
  published.setting.layout.world_size = 2;
  return published;
}

inline protocol::PublishedPeak published_peak(std::int64_t megabytes, std::optional<std::int64_t> after_iteration,
                                              const std::string& ranks = "data-parallel rank 0") {
  return {{std::to_string(megabytes) + " MB", megabytes * kMegabyte, kMegabyte, false}, ranks, after_iteration};
}

inline protocol::PublishedRow published_row(const std::vector<std::string>& labels, protocol::PublishedEnd end,
                                            std::optional<std::int64_t> iterations_completed) {
  protocol::PublishedRow row;
  row.recompute = protocol::PublishedRecompute{"selective", labels, std::nullopt, std::nullopt};
  row.arm = protocol::arm_name({.recompute_granularity = "selective", .recompute_modules = labels, .core_revision = "24bad8e6"});
  row.precision = "bf16";
  row.outcome.kind = end;
  row.outcome.iterations_completed = iterations_completed;
  return row;
}

// On the meta device; what it assumes and whom a rank stands for is left as it is.
inline void mark_predicted(base::StudyRows& study) {
  for (protocol::Trial& trial : study.plan.trials) trial.backend.device = "meta";
  for (base::AttemptRows& attempt : study.attempts) {
    attempt.trial.backend.device = "meta";
    for (base::RankRows& rank : attempt.ranks) make_predicted(rank);
  }
}

// In each attempt from this step on, of this phase of every rank; peaks so far grow with it.
inline void raise_phase(base::AttemptRows& attempt, std::int64_t step, protocol::Phase phase, std::int64_t bytes) {
  for (base::RankRows& rank : attempt.ranks) {
    std::int64_t lifetime = 0;
    for (protocol::StepRecord& record : rank.steps) {
      if (record.step >= step) record.phases[phase].peak_allocated_bytes = bytes;
      if (record.step >= step) record.phases[phase].peak_reserved_bytes = bytes + 100 * kMegabyte;
      for (const auto& [name, peak] : record.phases) lifetime = std::max(lifetime, peak.peak_allocated_bytes);
      record.lifetime_peak_allocated_bytes = lifetime;
      record.lifetime_peak_reserved_bytes = lifetime + 100 * kMegabyte;
    }
  }
}

inline void assume_device(base::StudyRows& study, std::int64_t capacity_bytes) {
  protocol::PredictionSpec prediction;
  prediction.device = "H100-80GB";
  prediction.device_memory_bytes = capacity_bytes + 50 * kMegabyte;
  prediction.outside_allocator_bytes = 50 * kMegabyte;
  for (protocol::Trial& trial : study.plan.trials) trial.prediction = prediction;
}

}  // namespace rematch::tests
