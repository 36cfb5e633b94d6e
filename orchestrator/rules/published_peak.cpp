#include "orchestrator/rules/published_peak.h"

#include <algorithm>

#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/rank_peak.h"
#include "orchestrator/stats/ratio.h"
#include "schemas/protocol/parallel_dims.h"
#include "schemas/protocol/prediction.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using base::RankRows;

std::vector<std::int64_t> ranks_named(const protocol::Trial& trial, const std::string& ranks) {
  if (ranks == "rank 0") return {0};
  std::vector<std::int64_t> named;
  if (ranks != "data-parallel rank 0") return named;
  const protocol::ParallelDims dims(trial.parallel);
  for (std::int64_t rank = 0; rank < dims.world_size(); ++rank)
    if (dims.position(protocol::Axis::kData, static_cast<int>(rank)) == 0) named.push_back(rank);
  return named;
}

// The step that ends with this iteration, on every one of the ranks.
bool all_completed(const std::vector<const RankRows*>& ranks, std::int64_t step) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const RankRows* rank) { return static_cast<std::int64_t>(rank->steps.size()) > step; });
}

std::string missing_counterpart(const std::vector<const RankRows*>& ranks, const protocol::PublishedPeak& published) {
  if (!published.ranks) return "the source does not say of which ranks its peak is";
  if (!published.after_iteration) return "the source does not say after which iteration its peak was read";
  if (ranks.empty()) return "none of its ranks was run here";
  if (!all_completed(ranks, *published.after_iteration - 1))
    return "iteration " + std::to_string(*published.after_iteration) + " was not completed here";
  return "";
}

std::optional<base::RankPeak> own_peak(const AttemptRows& attempt, const protocol::PublishedPeak& published) {
  if (!published.ranks || !published.after_iteration) return std::nullopt;
  return seen_peak(attempt, *published.ranks, *published.after_iteration);
}

std::optional<std::int64_t> floor_bytes(const std::vector<const RankRows*>& ranks, std::int64_t last_step) {
  std::optional<std::int64_t> floor;
  for (const RankRows* rank : ranks)
    for (const protocol::StepRecord& step : rank->steps)
      for (const auto& [phase, watermark] : step.phases)
        if (step.step <= last_step && no_label_lowers(phase)) floor = std::max(floor.value_or(0), watermark.peak_allocated_bytes);
  return floor;
}

std::optional<std::int64_t> held_bytes(const AttemptRows& attempt, const protocol::PublishedPeak& published) {
  const auto ranks = ranks_seen(attempt, published.ranks.value_or(""));
  if (!missing_counterpart(ranks, published).empty()) return std::nullopt;
  std::optional<std::int64_t> held;
  for (const RankRows* rank : ranks) {
    const protocol::StepRecord& step = rank->steps[static_cast<std::size_t>(*published.after_iteration - 1)];
    if (!step.forward_end_requested_bytes) return std::nullopt;
    held = std::max(held.value_or(0), *step.forward_end_requested_bytes);
  }
  return held;
}

}  // namespace

std::vector<const RankRows*> ranks_seen(const AttemptRows& attempt, const std::string& ranks) {
  const std::vector<std::int64_t> named = ranks_named(attempt.trial, ranks);
  const std::vector<protocol::RankClass> classes = protocol::rank_classes(attempt.trial);
  std::vector<const RankRows*> seen;
  for (const RankRows& rows : attempt.ranks) {
    const auto own = std::find_if(classes.begin(), classes.end(), [&](const protocol::RankClass& c) { return c.rank == rows.rank; });
    auto is_named = [&](std::int64_t rank) { return std::find(named.begin(), named.end(), rank) != named.end(); };
    if (own != classes.end() && std::any_of(own->ranks.begin(), own->ranks.end(), is_named)) seen.push_back(&rows);
  }
  return seen;
}

std::optional<base::RankPeak> seen_peak(const AttemptRows& attempt, const std::string& ranks, std::int64_t after_iteration) {
  const std::vector<const RankRows*> seen = ranks_seen(attempt, ranks);
  if (after_iteration < 1 || seen.empty() || !all_completed(seen, after_iteration - 1)) return std::nullopt;
  std::vector<base::RankPeak> peaks;
  for (const RankRows* rank : seen) peaks.push_back(peak_through_step(*rank, after_iteration - 1));
  return hot_rank(peaks);
}

ComparedPeak compare_peak(const AttemptRows& attempt, const protocol::PublishedPeak& published) {
  ComparedPeak peak;
  peak.published_bytes = published.figure.bytes;
  peak.resolution_bytes = published.figure.resolution_bytes;
  peak.ranks = published.ranks;
  peak.after_iteration = published.after_iteration;
  const auto ranks = ranks_seen(attempt, published.ranks.value_or(""));
  peak.no_counterpart = missing_counterpart(ranks, published);
  const std::optional<base::RankPeak> own = own_peak(attempt, published);
  if (!own) return peak;
  peak.own_bytes = own->allocated_bytes;
  peak.error_bytes = own->allocated_bytes - published.figure.bytes;
  peak.error_fraction = stats::difference_fraction(static_cast<double>(own->allocated_bytes), static_cast<double>(published.figure.bytes));
  peak.own_rank = own->rank;
  peak.binding_phase = own->binding_phase;
  peak.censored = own->binding_phase && no_label_lowers(*own->binding_phase);
  peak.floor_bytes = floor_bytes(ranks, *published.after_iteration - 1);
  if (peak.floor_bytes) peak.floor_distance_bytes = *peak.floor_bytes - published.figure.bytes;
  return peak;
}

OwnDelta own_delta(const AttemptRows& attempt, const AttemptRows& other, const protocol::PublishedPeak& published) {
  OwnDelta delta;
  const std::optional<base::RankPeak> own = own_peak(attempt, published);
  const std::optional<base::RankPeak> against = own_peak(other, published);
  if (own && against) {
    delta.bytes = own->allocated_bytes - against->allocated_bytes;
    delta.fraction = stats::difference_fraction(static_cast<double>(own->allocated_bytes), static_cast<double>(against->allocated_bytes));
  }
  const std::optional<std::int64_t> own_held = held_bytes(attempt, published);
  const std::optional<std::int64_t> against_held = held_bytes(other, published);
  if (own_held && against_held) delta.held_bytes = *own_held - *against_held;
  return delta;
}

}  // namespace rematch::rules
