#include "orchestrator/rules/moved_rank.h"

#include <algorithm>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"

namespace rematch::rules {

namespace {

std::optional<base::RankPeak> peak_of(const std::vector<base::RankPeak>& peaks, std::int64_t rank) {
  const auto found = std::find_if(peaks.begin(), peaks.end(), [&](const base::RankPeak& peak) { return peak.rank == rank; });
  if (found == peaks.end() || !found->binding_phase) return std::nullopt;  // a rank without a phase recorded no peak
  return *found;
}

std::string peak_text(const std::optional<base::RankPeak>& peak) { return peak ? base::bytes_text(peak->allocated_bytes) : "-"; }

}  // namespace

base::RankInBothArms rank_in_both_arms(const protocol::Trial& trial, std::int64_t rank, const std::vector<base::RankPeak>& against,
                                       const std::vector<base::RankPeak>& own) {
  base::RankInBothArms both;
  both.rank = rank;
  both.num_alike = base::num_alike(trial, rank);
  both.pipeline_rank = protocol::ParallelDims(trial.parallel).position(protocol::Axis::kPipeline, static_cast<int>(rank));
  both.pipeline_size = trial.parallel.pipeline_model_parallel_size;
  both.against = peak_of(against, rank);
  both.own = peak_of(own, rank);
  return both;
}

std::string name_of(const base::RankInBothArms& rank) {
  const std::string name = base::rank_text(rank.rank, rank.num_alike);
  if (rank.pipeline_size == 1) return name;
  return name + " (pipeline rank " + std::to_string(rank.pipeline_rank) + " of " + std::to_string(rank.pipeline_size) + ")";
}

std::string peaks_text(const base::RankInBothArms& rank, const std::string& against, const std::string& arm) {
  return "rank " + std::to_string(rank.rank) + " peaked at " + peak_text(rank.against) + " in " + against + " and at " +
         peak_text(rank.own) + " in " + arm;
}

bool is_other_stage(const base::RankInBothArms& from, const base::RankInBothArms& to) { return from.pipeline_rank != to.pipeline_rank; }

}  // namespace rematch::rules
