#include "orchestrator/report/attribution_tables.h"

#include <algorithm>
#include <optional>

#include "orchestrator/base/predicted.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/rules/attribution.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::report {

namespace {

using base::AttributedPeak;
using protocol::AttributedBytes;

struct Share {
  std::string role;
  std::string region;  // or a label
  std::int64_t bytes = 0;
  double of_total = 0;
};

double share_of(std::int64_t bytes, const AttributedPeak& peak) {
  return static_cast<double>(bytes) / static_cast<double>(protocol::total_bytes(peak.attribution));
}

std::string moment_text(const protocol::Trial& trial, const AttributedPeak& peak) {
  const std::string step = peak.step ? " of step " + std::to_string(*peak.step) : "";
  const std::string what = peak.moment == base::Moment::kOutOfMemory ? ", out of memory in " : ", ";
  return base::rank_text(peak.rank, base::num_alike(trial, peak.rank)) + what + std::string(protocol::to_string(peak.phase)) + step;
}

Table parts_table(const protocol::Trial& trial, const AttributedPeak& peak) {
  std::vector<Share> rows;
  for (const AttributedBytes& part : peak.attribution)
    rows.push_back({std::string(protocol::to_string(part.role)), part.region, part.bytes, share_of(part.bytes, peak)});
  const std::vector<ColumnOf<Share>> columns = {
      {{"role", "role"}, [](const Share& s) { return text_cell(s.role); }},
      {{"region", "region"}, [](const Share& s) { return text_cell(s.region); }},
      {{"bytes", "bytes"}, [](const Share& s) { return Cell{Bytes{s.bytes}}; }},
      {{"share", "share"}, [](const Share& s) { return Cell{Fraction{s.of_total}}; }},
  };
  return table_of("peak_attribution", "What the peak is made of (" + moment_text(trial, peak) + ")", columns, rows);
}

// That the rank's model has a region of, in the order of the label table.
std::vector<std::string> labels_with_sites(const base::AttemptRows& attempt, std::int64_t rank) {
  std::vector<std::string> labels;
  for (const std::string& label : protocol::labels_of_revision(attempt.trial.recompute.core_revision))
    for (const base::RankRows& rows : attempt.ranks)
      if (rows.rank == rank && rows.model && rows.model->sites_available.contains(label)) labels.push_back(label);
  return labels;
}

Table upper_bounds_table(const base::AttemptRows& attempt, const AttributedPeak& peak) {
  const std::vector<std::string> labels = labels_with_sites(attempt, peak.rank);
  std::vector<Share> rows;
  for (const std::string& label : labels) {
    const std::int64_t bytes = rules::covered_bytes(peak.attribution, {label});
    rows.push_back({"", label, bytes, share_of(bytes, peak)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
  const std::int64_t uncovered_bytes = rules::uncovered_activation_bytes(peak.attribution, labels);
  rows.push_back({"", "no label covers this", uncovered_bytes, share_of(uncovered_bytes, peak)});
  const std::vector<ColumnOf<Share>> columns = {
      {{"label", "label"}, [](const Share& s) { return text_cell(s.region); }},
      {{"upper_bound_bytes", "at most"}, [](const Share& s) { return Cell{Bytes{s.bytes}}; }},
      {{"share", "share"}, [](const Share& s) { return Cell{Fraction{s.of_total}}; }},
  };
  return table_of("upper_bounds", "What each label can take away of it at most", columns, rows);
}

bool has_peak(const base::AttemptRows& attempt) {
  return std::any_of(attempt.ranks.begin(), attempt.ranks.end(),
                     [](const base::RankRows& rank) { return !rank.steps.empty() || rank.oom; });
}

}  // namespace

std::vector<Table> attribution_tables(const base::AttemptRows& attempt) {
  const std::optional<AttributedPeak> peak = rules::attributed_peak(attempt);
  if (!peak) return {};
  return {parts_table(attempt.trial, *peak), upper_bounds_table(attempt, *peak)};
}

std::vector<Table> control_upper_bounds(const base::AttemptRows& control) {
  const std::optional<AttributedPeak> peak = rules::attributed_peak(control);
  if (!peak || rules::no_label_lowers(peak->phase)) return {};
  Table table = upper_bounds_table(control, *peak);
  table.title = "What each label can take away of the control's peak at most (" + moment_text(control.trial, *peak) + ")";
  return {table};
}

std::optional<base::Warning> attribution_note(const base::AttemptRows& attempt) {
  const std::optional<AttributedPeak> peak = rules::attributed_peak(attempt);
  if (!peak && !has_peak(attempt)) return std::nullopt;
  if (!peak)
    return base::Warning{base::WarningId::kNotAttributed,
                         "what the hot rank's peak is made of was not measured: its device cannot tell, or the database was made by an "
                         "older program (`rematch ingest` rebuilds it)"};
  if (!rules::no_label_lowers(peak->phase)) return std::nullopt;
  const std::string text = "no label can help: the peak of rank " + std::to_string(peak->rank) + " is in " +
                           std::string(protocol::to_string(peak->phase)) + ", where nothing is held for a backward";
  return base::Warning{base::WarningId::kNoLabelHelps, text};
}

}  // namespace rematch::report
