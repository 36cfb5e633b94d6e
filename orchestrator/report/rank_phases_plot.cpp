#include "orchestrator/report/rank_phases_plot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/report/arm_groups.h"
#include "orchestrator/report/plot_words.h"
#include "orchestrator/rules/judge_arm.h"
#include "orchestrator/rules/moved_failure.h"
#include "orchestrator/rules/rank_peak.h"
#include "schemas/protocol/prediction.h"

namespace rematch::report {

namespace {

using Heights = std::vector<std::optional<double>>;  // by rank

// Ranks that were not run have the peaks of the one that stands for them.
std::map<protocol::Phase, Heights> peaks_by_phase(const base::AttemptRows& attempt) {
  std::map<protocol::Phase, Heights> peaks;
  const auto num_ranks = static_cast<std::size_t>(attempt.trial.parallel.world_size);
  for (const protocol::RankClass& alike : protocol::rank_classes(attempt.trial)) {
    const base::RankRows* run = base::find_rank(attempt.ranks, alike.rank);
    if (run == nullptr) continue;
    for (const auto& [phase, bytes] : rules::phase_peaks_bytes(*run)) {
      Heights& heights = peaks.try_emplace(phase, num_ranks).first->second;
      for (const std::int64_t rank : alike.ranks) heights.at(static_cast<std::size_t>(rank)) = static_cast<double>(bytes);
    }
  }
  return peaks;
}

// Where a height begins, and where the last one ends.
PlotSeries layer_of(protocol::Phase phase, const Heights& heights) {
  PlotSeries series;
  series.name = protocol::to_string(phase);
  for (std::size_t rank = 0; rank < heights.size(); ++rank) {
    if (series.x.empty() ? !heights[rank] : heights[rank] == series.y.back()) continue;
    series.x.push_back(static_cast<double>(rank));
    series.y.push_back(heights[rank]);
  }
  if (series.y.back()) {
    series.x.push_back(static_cast<double>(heights.size()));
    series.y.emplace_back(std::nullopt);
  }
  return series;
}

std::string caption_of(const ArmGroup& part, const base::ArmVerdict& arm, const base::AttemptRows& attempt) {
  std::string text = "The largest allocated bytes of each rank in each phase, of ";
  text += arm.figures ? "the run with the arm's largest peak. " : "its first failed run, as far as it got; not a pass. ";
  if (!arm.figures && arm.failure)
    text += "It failed in " + rules::place_of(*arm.failure) + ", on rank " + std::to_string(arm.failure->rank) + ". ";
  if (attempt.trial.prediction) text += std::to_string(attempt.ranks.size()) + " ranks were run; each stands for those that are alike. ";
  return text + provenance_sentence(part.provenance);
}

std::optional<Plot> plot_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmGroup& part,
                            const base::ArmVerdict& arm) {
  const std::optional<std::size_t> index = rules::attempt_of_peaks(study, verdict.runs, arm);
  if (!index) return std::nullopt;
  const base::AttemptRows& attempt = study.attempts[*index];
  Plot plot;
  plot.key = "rank_phases";
  plot.title = title_of("Peaks by rank and phase: " + arm_label(arm), *part.group);
  plot.caption = caption_of(part, arm, attempt);
  plot.kind = PlotKind::kLayers;
  plot.x = {"rank", PlotUnit::kRank};
  plot.y = {"peak allocated", PlotUnit::kBytes};
  for (const auto& [phase, heights] : peaks_by_phase(attempt)) plot.series.push_back(layer_of(phase, heights));
  return plot.series.empty() ? std::nullopt : std::optional(std::move(plot));
}

}  // namespace

std::vector<Plot> rank_phases_plots(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  return of_arms(verdict, [&](const ArmGroup& part, const base::ArmVerdict& arm) { return plot_of(study, verdict, part, arm); });
}

}  // namespace rematch::report
