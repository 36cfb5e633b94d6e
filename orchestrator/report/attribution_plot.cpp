#include "orchestrator/report/attribution_plot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "orchestrator/report/arm_groups.h"
#include "orchestrator/report/plot_words.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/judge_arm.h"

namespace rematch::report {

namespace {

using base::ArmVerdict;
using base::Moment;
using protocol::AttributedBytes;
using PartName = std::pair<protocol::Role, std::string>;  // with its region

struct Bar {
  std::string arm;
  std::map<PartName, std::int64_t> bytes;
  std::int64_t total_bytes = 0;
};

// What the arm's table says of that moment.
std::optional<std::int64_t> bytes_in_table(const ArmVerdict& arm, Moment moment) {
  if (moment == Moment::kPeak) return arm.figures ? std::optional(arm.figures->hot.allocated_bytes) : std::nullopt;
  const bool ran_out = !arm.figures && arm.failure && arm.failure->kind == protocol::FailureKind::kOom;
  return ran_out ? arm.failure->allocated_bytes : std::nullopt;
}

// nullopt: not measured of this peak; one before the first step has no parts.
std::optional<Bar> bar_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmVerdict& arm, Moment moment) {
  const std::optional<std::size_t> index = rules::attempt_of_peaks(study, verdict.runs, arm);
  const auto peak = index ? rules::attributed_peak(study.attempts[*index]) : std::nullopt;
  if (!peak || peak->moment != moment || protocol::total_bytes(peak->attribution) != bytes_in_table(arm, moment)) return std::nullopt;
  Bar bar{arm_label(arm), {}, protocol::total_bytes(peak->attribution)};
  for (const AttributedBytes& part : peak->attribution) bar.bytes[{part.role, part.region}] += part.bytes;
  return bar;
}

constexpr double kSmallShare = 0.01;

// Below that share of every bar. One alone keeps its name.
std::set<PartName> small_parts(const std::vector<Bar>& bars) {
  std::set<PartName> small;
  for (const Bar& bar : bars)
    for (const auto& [name, bytes] : bar.bytes) small.insert(name);
  for (const Bar& bar : bars)
    for (const auto& [name, bytes] : bar.bytes)
      if (static_cast<double>(bytes) >= kSmallShare * static_cast<double>(bar.total_bytes)) small.erase(name);
  if (small.size() < 2) small.clear();
  return small;
}

PlotSeries series_of(std::string name, const std::set<PartName>& parts, const std::vector<Bar>& bars) {
  PlotSeries series;
  series.name = std::move(name);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    std::optional<double> sum;
    for (const auto& [part, bytes] : bars[i].bytes)
      if (parts.contains(part)) sum = sum.value_or(0) + static_cast<double>(bytes);
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(sum);
  }
  return series;
}

// "activations: moe/moe_act", "parameters".
std::string text_of(const PartName& part) {
  return std::string(protocol::to_string(part.first)) + (part.second.empty() ? "" : ": " + part.second);
}

std::vector<PlotSeries> series_of(const std::vector<Bar>& bars) {
  const std::set<PartName> small = small_parts(bars);
  std::set<PartName> large;
  for (const Bar& bar : bars)
    for (const auto& [name, bytes] : bar.bytes)
      if (!small.contains(name)) large.insert(name);
  std::vector<PlotSeries> series;
  for (const PartName& part : large) series.push_back(series_of(text_of(part), {part}, bars));
  if (!small.empty()) series.push_back(series_of(std::to_string(small.size()) + " parts below 1 % of every bar", small, bars));
  return series;
}

std::optional<Plot> plot_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const ArmGroup& part, Moment moment) {
  std::vector<Bar> bars;
  std::string without;
  for (const ArmVerdict* arm : part.arms) {
    if (!bytes_in_table(*arm, moment)) continue;
    if (std::optional<Bar> bar = bar_of(study, verdict, *arm, moment))
      bars.push_back(*std::move(bar));
    else
      without += (without.empty() ? "" : ", ") + arm->arm;
  }
  if (bars.empty()) return std::nullopt;
  const bool is_peak = moment == Moment::kPeak;
  Plot plot;
  plot.key = is_peak ? "attribution" : "attribution_out_of_memory";
  plot.title = title_of(is_peak ? "What the peak of the hot rank is made of" : "What filled the memory that ran out", *part.group);
  plot.caption = is_peak
                     ? "Live bytes at the peak of each arm's hot rank, by role and recompute region; a bar is the arm's peak allocated. "
                     : "Live bytes of the rank that failed, when a request did not fit; none of these arms passed. ";
  if (!without.empty()) plot.caption += "Not measured of " + without + ". ";
  plot.caption += provenance_sentence(part.provenance);
  plot.kind = PlotKind::kStackedBars;
  plot.x = {"arm", PlotUnit::kNone};
  plot.y = {is_peak ? "peak allocated" : "allocated at the failure", PlotUnit::kBytes};
  for (const Bar& bar : bars) plot.categories.push_back(bar.arm);
  plot.series = series_of(bars);
  return plot;
}

}  // namespace

std::vector<Plot> attribution_plots(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<Plot> plots;
  for (const ArmGroup& part : arm_groups(verdict))
    for (const Moment moment : {Moment::kPeak, Moment::kOutOfMemory})
      if (std::optional<Plot> plot = plot_of(study, verdict, part, moment)) plots.push_back(*std::move(plot));
  return plots;
}

}  // namespace rematch::report
