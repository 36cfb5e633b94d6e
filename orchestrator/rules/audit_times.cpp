// Check: which differences of step times are larger than what the steps within the two runs spread. One run a row: what differs from run to
// run comes on top of it, so that a difference that is larger is not shown either, only not refuted.
#include <algorithm>
#include <cmath>
#include <functional>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"
#include "orchestrator/stats/students.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedRow;

constexpr double kConfidence = 0.95;

// What the spread within a run leaves open of its mean: its standard error, and one less than the number of steps.
struct MeanError {
  double fraction = 0;
  double freedom = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
  bool holds_zero() const { return low <= 0 && high >= 0; }
};

const AuditedWork* find_work(const WorkAudit& work, const std::string& arm) {
  const auto found = std::find_if(work.rows.begin(), work.rows.end(), [&](const AuditedWork& row) { return row.arm == arm; });
  return found == work.rows.end() || found->num_iterations.value_or(0) < 2 ? nullptr : &*found;
}

MeanError error_of(const AuditedWork& row, double spread) {
  const auto freedom = static_cast<double>(*row.num_iterations - 1);
  return {spread / std::sqrt(freedom), freedom};
}

// Welch's degrees of freedom of a difference of two means; 0 when neither spreads.
double degrees_of_freedom(const MeanError& a, const MeanError& b) {
  const double of_a = std::pow(a.fraction, 2);
  const double of_b = std::pow(b.fraction, 2);
  const double terms = of_a * of_a / a.freedom + of_b * of_b / b.freedom;
  return terms == 0 ? 0 : (of_a + of_b) * (of_a + of_b) / terms;
}

Interval interval_of(double fraction, const MeanError& own, const MeanError& against) {
  const double freedom = degrees_of_freedom(own, against);
  if (freedom == 0) return {fraction, fraction};
  const double half = stats::students_critical_value(freedom, kConfidence) * std::hypot(own.fraction, against.fraction);
  const double difference = std::log1p(fraction);
  return {std::expm1(difference - half), std::expm1(difference + half)};
}

void set_interval(const Interval& interval, TimeStands stands, AuditedTime& time) {
  time.low = interval.low;
  time.high = interval.high;
  time.stands = stands;
}

// The least spreads may leave it open already, and the largest may not.
void judge_by_bounds(const AuditedWork& own, const AuditedWork& against, AuditedTime& time) {
  const Interval least =
      interval_of(time.fraction, error_of(own, *own.spread_low_fraction), error_of(against, *against.spread_low_fraction));
  if (least.holds_zero()) return set_interval(least, TimeStands::kNotToldApart, time);
  const Interval most =
      interval_of(time.fraction, error_of(own, *own.spread_high_fraction), error_of(against, *against.spread_high_fraction));
  set_interval(most, most.holds_zero() ? TimeStands::kWithinSpreadBounds : TimeStands::kBeyondSpread, time);
}

// Of spreads that are lower bounds; the least row's is not known, and taken as none.
void judge_by_least(const AuditedWork& own, const AuditedWork& against, AuditedTime& time) {
  if (!own.spread_low_fraction && !against.spread_low_fraction) return;
  const Interval least = interval_of(time.fraction, error_of(own, own.spread_low_fraction.value_or(0)),
                                     error_of(against, against.spread_low_fraction.value_or(0)));
  set_interval(least, least.holds_zero() ? TimeStands::kNotToldApart : TimeStands::kBeyondLeastSpread, time);
}

std::optional<AuditedTime> time_between(const PublishedRow& row, const PublishedRow& against, const WorkAudit& work) {
  if (!row.step_time_ms || !against.step_time_ms || against.step_time_ms->value <= 0 || row.step_time_ms->value <= 0) return std::nullopt;
  if (row.precision != against.precision || !is_same_window(*row.step_time_ms, *against.step_time_ms)) return std::nullopt;
  AuditedTime time{name_of(row), name_of(against), row.step_time_ms->value / against.step_time_ms->value - 1};
  const AuditedWork* own = find_work(work, time.arm);
  const AuditedWork* other = find_work(work, time.against);
  if (own == nullptr || other == nullptr) return time;
  if (own->spread_high_fraction && other->spread_high_fraction)
    judge_by_bounds(*own, *other, time);
  else
    judge_by_least(*own, *other, time);
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

// Of the values that `get` gives of rows; empty: of none.
std::string extent_over(const std::vector<AuditedWork>& rows, const std::function<std::optional<double>(const AuditedWork&)>& get) {
  std::vector<double> values;
  for (const AuditedWork& row : rows)
    if (const auto value = get(row)) values.push_back(*value);
  if (values.empty()) return "";
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return extent_text(*least, *most);
}

// From the least to the most that the spread of any row may be.
std::string bounds_text(const std::vector<AuditedWork>& rows) {
  std::vector<double> values;
  for (const AuditedWork& row : rows) {
    if (row.spread_low_fraction) values.push_back(*row.spread_low_fraction);
    if (row.spread_high_fraction) values.push_back(*row.spread_high_fraction);
  }
  return values.empty() ? ""
                        : extent_text(*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end()));
}

std::string error_words(const WorkAudit& work) {
  const std::string errors = extent_over(work.rows, [](const AuditedWork& row) { return row.standard_error_fraction; });
  return errors.empty() ? "" : ", so that a mean of this many steps has a standard error of " + errors;
}

// Of rows whose spread has bounds alone.
std::string not_known_words(const WorkAudit& work) {
  const auto num = std::count_if(work.rows.begin(), work.rows.end(),
                                 [](const AuditedWork& row) { return row.spread_high_fraction && !row.spread_fraction; });
  if (num == 0) return "";
  return "; " + std::to_string(num) + (num == 1 ? " row is" : " rows are") + " above the formula by no more than that may be off";
}

// Nothing where rounding alone explains what rows differ in.
Findings spread_of_rows(const WorkAudit& work) {
  const std::string spreads = extent_over(work.rows, [](const AuditedWork& row) { return row.spread_fraction; });
  const std::string source = " (standard deviation / mean, from throughput x time)";
  if (work.spread_is_least)
    return spreads.empty() ? Findings{}
                           : Findings{{"spread", "all rows", AuditSeverity::kWarning, "", spreads,
                                       "step times within a run spread by at least " + spreads + source + error_words(work)}};
  const std::string bounds = bounds_text(work.rows);
  if (bounds.empty()) return {};
  if (spreads.empty()) {
    const bool is_least_known =
        std::any_of(work.rows.begin(), work.rows.end(), [](const auto& row) { return row.spread_low_fraction.value_or(0) > 0; });
    return {{"spread", "all rows", is_least_known ? AuditSeverity::kWarning : AuditSeverity::kNotCheckable, "", bounds,
             "throughput x time is above the formula by no more than that may be off: step times within a run spread by " + bounds}};
  }
  return {{"spread", "all rows", AuditSeverity::kWarning, "", spreads,
           "step times within a run spread by " + spreads + source + error_words(work) + not_known_words(work) +
               "; a formula that is off by 0.5 % leaves " + bounds}};
}

AuditFinding times_finding(const AuditedTime& time, const WorkAudit& work) {
  const std::string interval = fraction_text(*time.low) + " to " + fraction_text(*time.high);
  std::string words = std::string("larger than the ") + (work.spread_is_least ? "least " : "") +
                      "spread within the two runs; what differs from run to run is not known";
  if (time.stands == TimeStands::kNotToldApart) words = "not told apart: the least spread within the two runs alone leaves " + interval;
  if (time.stands == TimeStands::kWithinSpreadBounds)
    words = "not known: larger than the least spread within the two runs, but the most that it may be leaves " + interval;
  const bool apart = time.stands == TimeStands::kBeyondSpread || time.stands == TimeStands::kBeyondLeastSpread;
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

Findings spread_findings(const Published& published, const WorkAudit& work, const std::vector<AuditedTime>& times) {
  Findings findings = spread_of_rows(work);
  if (findings.empty()) return {};
  for (const AuditedTime& time : times)
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
