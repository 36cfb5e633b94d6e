#include "orchestrator/report/beside_plot.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/twin_study.h"

namespace rematch::report {

namespace {

using protocol::Provenance;

PlotSeries series_named(Provenance provenance) {
  PlotSeries series;
  series.name = protocol::to_string(provenance);
  return series;
}

Plot plot_of_two(Provenance own, Provenance other) {
  Plot plot;
  plot.title = "Peak allocated, " + std::string(protocol::to_string(own)) + " beside " + std::string(protocol::to_string(other));
  plot.kind = PlotKind::kGroupedBars;
  plot.x = {"arm", PlotUnit::kNone};
  plot.y = {"peak allocated", PlotUnit::kBytes};
  plot.series = {series_named(own), series_named(other)};
  return plot;
}

void add_category(std::string name, std::int64_t own_bytes, std::int64_t other_bytes, Plot& plot) {
  const auto place = static_cast<double>(plot.categories.size());
  plot.categories.push_back(std::move(name));
  for (PlotSeries& series : plot.series) series.x.push_back(place);
  plot.series.front().y.emplace_back(static_cast<double>(own_bytes));
  plot.series.back().y.emplace_back(static_cast<double>(other_bytes));
}

std::optional<Plot> twin_plot(const base::StudyRows& study, const base::StudyRows& twin) {
  const auto own = rules::provenance_of(study);
  const auto other = rules::provenance_of(twin);
  if (!own || !other) return std::nullopt;
  Plot plot = plot_of_two(*own, *other);
  plot.key = "beside_twin";
  plot.caption =
      "Hot ranks of the arms that ended well in both studies; the other one is " + twin.plan.name + " (" + twin.plan.study_id +
      "). Agreement is consistency of one program on two devices; assumed bytes, which the other does not have, are not taken off.";
  for (const rules::TwinArm& arm : rules::compare_twin(study, twin))
    add_category(arm.arm, arm.own.allocated_bytes, arm.twin.allocated_bytes, plot);
  return plot.categories.empty() ? std::nullopt : std::optional(std::move(plot));
}

// An arm that is published after several iterations says which.
std::string category_of(const rules::ComparedRow& row, const std::vector<rules::ComparedRow>& rows) {
  const auto is_same = [&](const rules::ComparedRow& other) { return other.arm == row.arm && other.peak; };
  if (std::count_if(rows.begin(), rows.end(), is_same) < 2 || !row.peak->after_iteration) return row.arm;
  return row.arm + ", after iteration " + std::to_string(*row.peak->after_iteration);
}

std::optional<Plot> published_plot(const base::StudyRows& study, const protocol::Published& published) {
  const auto own = rules::provenance_of(study);
  if (!own) return std::nullopt;
  Plot plot = plot_of_two(*own, Provenance::kPublished);
  plot.key = "beside_published";
  plot.caption =
      "Peaks over the ranks and after the iteration that the published row says; rows without a counterpart are left out. "
      "Published: " +
      published.source.title + ", " + published.source.section + ".";
  const std::vector<rules::ComparedRow> rows = rules::compare_published(study, published);
  for (const rules::ComparedRow& row : rows)
    if (row.peak && row.peak->own_bytes) add_category(category_of(row, rows), *row.peak->own_bytes, row.peak->published_bytes, plot);
  return plot.categories.empty() ? std::nullopt : std::optional(std::move(plot));
}

}  // namespace

std::vector<Plot> beside_plots(const base::StudyRows& study, const Beside& beside) {
  std::vector<Plot> plots;
  if (beside.twin != nullptr)
    if (std::optional<Plot> plot = twin_plot(study, *beside.twin)) plots.push_back(*std::move(plot));
  if (beside.published != nullptr)
    if (std::optional<Plot> plot = published_plot(study, *beside.published)) plots.push_back(*std::move(plot));
  return plots;
}

}  // namespace rematch::report
