// Check: figures with fewer digits than the differences that one would read from them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedBytes;
using protocol::PublishedDelta;
using protocol::PublishedMean;
using protocol::PublishedRow;

constexpr double kCoarseStep = 0.1;  // of a printed percentage: half a step of its last digit

const PublishedBytes* peak_of(const PublishedRow& row) { return row.peak_allocated ? &row.peak_allocated->figure : nullptr; }

// Peaks of one view that are the same number, whatever their digits and units.
void check_equal_peaks(const Published& published, Findings& findings) {
  for (std::size_t i = 0; i < published.rows.size(); ++i) {
    const auto& first = published.rows[i].peak_allocated;
    if (!first) continue;
    const auto is_equal = [&](const PublishedRow& row) {
      return row.peak_allocated && row.peak_allocated->figure.bytes == first->figure.bytes && is_same_view(*row.peak_allocated, *first);
    };
    if (std::any_of(published.rows.begin(), published.rows.begin() + static_cast<std::ptrdiff_t>(i), is_equal)) continue;
    std::vector<std::string> names, texts;
    std::int64_t resolution_bytes = 0;
    for (const PublishedRow& row : published.rows) {
      if (!is_equal(row)) continue;
      const PublishedBytes& figure = row.peak_allocated->figure;
      names.push_back(name_of(row));
      if (std::find(texts.begin(), texts.end(), figure.as_published) == texts.end()) texts.push_back(figure.as_published);
      resolution_bytes = std::max(resolution_bytes, figure.resolution_bytes);
    }
    if (names.size() < 2) continue;
    findings.push_back(
        {"rounding", listed(names), AuditSeverity::kWarning, listed(texts), "",
         "equal to " + bytes_text(static_cast<double>(resolution_bytes)) + " only: a smaller difference between them does not show"});
  }
}

void check_close_peaks(const Published& published, Findings& findings) {
  for (std::size_t i = 0; i < published.rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const PublishedBytes* own = peak_of(published.rows[i]);
      const PublishedBytes* other = peak_of(published.rows[j]);
      if (own == nullptr || other == nullptr || own->bytes == other->bytes) continue;
      if (!is_same_view(*published.rows[i].peak_allocated, *published.rows[j].peak_allocated)) continue;
      const PrintedRange difference = magnitude(printed_range(*own), printed_range(*other));
      if (difference.low > 0) continue;
      findings.push_back({"rounding", name_of(published.rows[j]) + " and " + name_of(published.rows[i]), AuditSeverity::kWarning,
                          other->as_published + " and " + own->as_published, "0 to " + bytes_text(difference.high),
                          "their difference is within rounding"});
    }
}

void check_percent_steps(const PublishedRow& row, Findings& findings) {
  for (const PublishedDelta& delta : row.deltas) {
    if (!delta.percent || *delta.percent == 0) continue;
    const PrintedRange printed = printed_range(*delta.percent, *delta.decimal_places);
    const double share = (printed.high - printed.value) / std::abs(*delta.percent);
    if (share < kCoarseStep) continue;
    findings.push_back({"rounding", name_of(row), AuditSeverity::kNote, digits_text(*delta.percent, *delta.decimal_places) + " %", "",
                        delta.of + " against " + delta.against + ": rounding of the percentage is " + digits_text(100 * share, 0) +
                            " % of it: it stands for " + digits_text(printed.low, *delta.decimal_places + 1) + " to " +
                            digits_text(printed.high, *delta.decimal_places + 1) + " %"});
  }
}

struct AboutFigure {
  std::string row;
  std::string text;
};

// One finding a column: a figure that stands for several rows is one statement.
void check_about(const char* column, const std::vector<AboutFigure>& figures, Findings& findings) {
  if (figures.empty()) return;
  std::vector<std::string> rows;
  std::set<std::string> seen;
  std::vector<std::string> texts;
  for (const AboutFigure& figure : figures) {
    rows.push_back(figure.row);
    if (seen.insert(figure.text).second) texts.push_back(figure.text);
  }
  const std::string once =
      figures.size() > 1 && texts.size() == 1 ? "one figure for " + std::to_string(figures.size()) + " rows, no measurement of each; " : "";
  findings.push_back({"rounding", listed(rows), AuditSeverity::kNote, listed(texts), "",
                      std::string(column) + ": " + once + "\"about\": taken as good to one unit of its last digit"});
}

void check_means(const char* column, const char* unit, const Published& published,
                 const std::function<const std::optional<PublishedMean>&(const PublishedRow&)>& mean_of, Findings& findings) {
  std::vector<AboutFigure> about;
  std::set<std::int64_t> places;
  for (const PublishedRow& row : published.rows) {
    const std::optional<PublishedMean>& mean = mean_of(row);
    if (!mean) continue;
    places.insert(mean->decimal_places);
    if (mean->is_approximate) about.push_back({name_of(row), printed_text(*mean, unit)});
  }
  check_about(column, about, findings);
  if (places.size() > 1)
    findings.push_back({"rounding", column, AuditSeverity::kNote, "", "",
                        "rows have from " + std::to_string(*places.begin()) + " to " + std::to_string(*places.rbegin()) +
                            " decimal places: a difference of two is known to the coarser one"});
}

void check_peaks(const char* column, const Published& published,
                 const std::function<const std::optional<protocol::PublishedPeak>&(const PublishedRow&)>& peak_of_row, Findings& findings) {
  std::vector<AboutFigure> about;
  for (const PublishedRow& row : published.rows)
    if (const auto& peak = peak_of_row(row); peak && peak->figure.is_approximate)
      about.push_back({name_of(row), printed_text(peak->figure)});
  check_about(column, about, findings);
}

}  // namespace

Findings rounding_findings(const Published& published) {
  Findings findings;
  check_equal_peaks(published, findings);
  check_close_peaks(published, findings);
  for (const PublishedRow& row : published.rows) check_percent_steps(row, findings);
  check_peaks(
      "peak_allocated", published, [](const PublishedRow& row) -> const auto& { return row.peak_allocated; }, findings);
  check_peaks(
      "peak_reserved", published, [](const PublishedRow& row) -> const auto& { return row.peak_reserved; }, findings);
  check_means(
      "step_time_ms", "ms", published, [](const PublishedRow& row) -> const auto& { return row.step_time_ms; }, findings);
  check_means(
      "tflops_per_gpu", "TFLOP/s", published, [](const PublishedRow& row) -> const auto& { return row.tflops_per_gpu; }, findings);
  return findings;
}

}  // namespace rematch::rules::audit
