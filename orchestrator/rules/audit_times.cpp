// Check: which differences of step times are larger than what the steps within the two runs spread. One run a row: what differs from run to
// run comes on top of it, so that a difference that is larger is not shown either, only not refuted.
#include <algorithm>
#include <cmath>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"
#include "orchestrator/stats/students.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedRow;

constexpr double kConfidence = 0.95;

const AuditedWork* find_work(const WorkAudit& work, const std::string& arm) {
  const auto found = std::find_if(work.rows.begin(), work.rows.end(), [&](const AuditedWork& row) { return row.arm == arm; });
  return found == work.rows.end() || !found->standard_error_fraction ? nullptr : &*found;
}

// Welch's degrees of freedom of a difference of two means; 0 when neither spreads.
double degrees_of_freedom(const AuditedWork& a, const AuditedWork& b) {
  const double of_a = std::pow(*a.standard_error_fraction, 2);
  const double of_b = std::pow(*b.standard_error_fraction, 2);
  const double terms = of_a * of_a / static_cast<double>(*a.num_iterations - 1) + of_b * of_b / static_cast<double>(*b.num_iterations - 1);
  return terms == 0 ? 0 : (of_a + of_b) * (of_a + of_b) / terms;
}

void add_interval(const AuditedWork& own, const AuditedWork& against, bool spread_is_least, AuditedTime& time) {
  const double freedom = degrees_of_freedom(own, against);
  if (freedom == 0) return;
  const double half =
      stats::students_critical_value(freedom, kConfidence) * std::hypot(*own.standard_error_fraction, *against.standard_error_fraction);
  const double difference = std::log1p(time.fraction);
  time.low = std::expm1(difference - half);
  time.high = std::expm1(difference + half);
  if (*time.low <= 0 && *time.high >= 0)
    time.stands = TimeStands::kNotToldApart;
  else
    time.stands = spread_is_least ? TimeStands::kBeyondLeastSpread : TimeStands::kBeyondSpread;
}

std::optional<AuditedTime> time_between(const PublishedRow& row, const PublishedRow& against, const WorkAudit& work) {
  if (!row.step_time_ms || !against.step_time_ms || against.step_time_ms->value <= 0 || row.step_time_ms->value <= 0) return std::nullopt;
  AuditedTime time{name_of(row), name_of(against), row.step_time_ms->value / against.step_time_ms->value - 1};
  const AuditedWork* own = find_work(work, time.arm);
  const AuditedWork* other = find_work(work, time.against);
  if (own != nullptr && other != nullptr) add_interval(*own, *other, work.spread_is_least, time);
  return time;
}

bool has(const std::vector<AuditedTime>& times, const PublishedRow& row, const PublishedRow& against) {
  return std::any_of(times.begin(), times.end(),
                     [&](const AuditedTime& time) { return time.arm == name_of(row) && time.against == name_of(against); });
}

void add_time(const PublishedRow& row, const PublishedRow* against, const WorkAudit& work, std::vector<AuditedTime>& times) {
  if (against == nullptr || against == &row || has(times, row, *against)) return;
  if (auto time = time_between(row, *against, work)) times.push_back(*std::move(time));
}

std::vector<AuditedTime> all_pairs(const Published& published, const WorkAudit& work) {
  std::vector<AuditedTime> pairs;
  for (std::size_t i = 0; i < published.rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) add_time(published.rows[i], &published.rows[j], work, pairs);
  return pairs;
}

// "4.6 to 11.5 %".
std::string extent_text(double least, double most) {
  const std::string low = digits_text(100 * least, 1), high = digits_text(100 * most, 1);
  return (low == high ? low : low + " to " + high) + " %";
}

AuditFinding spread_warning(const WorkAudit& work) {
  std::vector<double> spreads, errors;
  for (const AuditedWork& row : work.rows) {
    if (!row.standard_error_fraction) continue;
    spreads.push_back(*row.spread_fraction);
    errors.push_back(*row.standard_error_fraction);
  }
  const auto [least, most] = std::minmax_element(spreads.begin(), spreads.end());
  const auto [least_error, most_error] = std::minmax_element(errors.begin(), errors.end());
  const std::string what = work.spread_is_least ? "step times within a run spread by at least " : "step times within a run spread by ";
  return {"spread",
          "all rows",
          AuditSeverity::kWarning,
          "",
          extent_text(*least, *most),
          what + extent_text(*least, *most) +
              " (standard deviation / mean, from throughput x time), so that a mean of this many steps has a " + "standard error of " +
              extent_text(*least_error, *most_error)};
}

AuditFinding times_finding(const AuditedTime& time, const WorkAudit& work) {
  const std::string interval = fraction_text(*time.low) + " to " + fraction_text(*time.high);
  const bool apart = time.stands != TimeStands::kNotToldApart;
  const std::string words = apart ? std::string("larger than the ") + (work.spread_is_least ? "least " : "") +
                                        "spread within the two runs; what differs from run to run is not known"
                                  : "not told apart: the spread within the two runs alone leaves " + interval;
  return {"spread",
          time.arm,
          apart ? AuditSeverity::kNote : AuditSeverity::kWarning,
          fraction_text(time.fraction),
          interval,
          "step time against " + time.against + ": " + words};
}

}  // namespace

std::vector<AuditedTime> audited_times(const Published& published, const WorkAudit& work) {
  std::vector<AuditedTime> times;
  const PublishedRow* reference = reference_row(published);
  for (const PublishedRow& row : published.rows) {
    add_time(row, reference, work, times);
    for (const protocol::PublishedDelta& delta : row.deltas)
      if (delta.of == "step_time_ms") add_time(row, protocol::find_row(published, delta.against), work, times);
  }
  return times;
}

Findings spread_findings(const Published& published, const WorkAudit& work) {
  const bool known = std::any_of(work.rows.begin(), work.rows.end(), [](const AuditedWork& row) { return row.standard_error_fraction; });
  if (!known) return {};
  Findings findings = {spread_warning(work)};
  for (const AuditedTime& time : audited_times(published, work))
    if (time.low) findings.push_back(times_finding(time, work));
  std::size_t num_pairs = 0, num_apart = 0;
  for (const AuditedTime& time : all_pairs(published, work)) {
    num_pairs += time.low ? 1 : 0;
    num_apart += time.stands == TimeStands::kBeyondSpread || time.stands == TimeStands::kBeyondLeastSpread ? 1 : 0;
  }
  if (num_pairs > 1)
    findings.push_back({"spread", "all pairs of rows", AuditSeverity::kNote, "", "",
                        "of " + std::to_string(num_pairs) + " pairs of rows " + std::to_string(num_apart) +
                            " differ in step time by more than the spread within their runs"});
  return findings;
}

}  // namespace rematch::rules::audit
