// Check: throughput times step time is the work of an iteration, and all rows of a table do the same work. Recomputed work is not counted,
// so that recompute is no excuse. Logs print the mean over iterations of work / time, which is no less than work / mean time: to second
// order their ratio is 1 + (standard deviation / mean)^2 of the step times, which is how the spread of the steps shows in the two means.
#include <algorithm>
#include <cmath>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedRow;

constexpr double kLargestExcess = 0.05;  // of work: a spread of step times of 22 %
constexpr double kFormulaSlack = 0.005;  // counts of work differ by small terms
constexpr double kMsPerSecond = 1e3;
constexpr double kTera = 1e12;

std::string tera_text(double flops) { return digits_text(flops / kTera, 2) + " TFLOP"; }

std::optional<std::int64_t> num_iterations(const PublishedRow& row) {
  const auto& time = *row.step_time_ms;
  const auto& rate = *row.tflops_per_gpu;
  const bool is_same = time.first_iteration == rate.first_iteration && time.last_iteration == rate.last_iteration;
  if (!is_same || !time.first_iteration || !time.last_iteration || *time.last_iteration < *time.first_iteration) return std::nullopt;
  return *time.last_iteration - *time.first_iteration + 1;
}

std::vector<AuditedWork> work_rows(const Published& published) {
  std::vector<AuditedWork> rows;
  for (const PublishedRow& row : published.rows) {
    if (!row.step_time_ms || !row.tflops_per_gpu) continue;
    const PrintedRange seconds = scaled(printed_range(*row.step_time_ms), 1 / kMsPerSecond);
    const PrintedRange rate = scaled(printed_range(*row.tflops_per_gpu), kTera * static_cast<double>(published.setting.layout.world_size));
    const PrintedRange work = product(rate, seconds);
    AuditedWork entry{name_of(row), seconds.value * 1e9, row.tflops_per_gpu->value, work.value, work.low, work.high};
    entry.num_iterations = num_iterations(row);
    rows.push_back(entry);
  }
  return rows;
}

double median_work(const std::vector<AuditedWork>& rows) {
  std::vector<double> works;
  for (const AuditedWork& row : rows) works.push_back(row.work_flops);
  std::sort(works.begin(), works.end());
  return works[(works.size() - 1) / 2];
}

// What a row's work is set against.
struct Standard {
  double flops = 0;
  bool is_formula = false;
  std::string name;  // "the formula's 281.03 TFLOP"
};

bool is_wrong(const AuditedWork& row, const Standard& standard) {
  const double least = standard.is_formula ? 1 - kFormulaSlack : 1 - kLargestExcess;
  return row.low_flops > standard.flops * (1 + kLargestExcess) || row.high_flops < standard.flops * least;
}

AuditFinding wrong_row(const AuditedWork& row, const std::string& subject, const Standard& standard, std::int64_t world_size) {
  const double factor = row.work_flops / standard.flops;
  const std::string mix_up = unit_mix_up(factor, world_size);
  const std::string words = "throughput x time is " + digits_text(factor, 4) + " times " + standard.name +
                            (mix_up.empty() ? ": one of the two is wrong" : ": as if " + mix_up);
  return {mix_up.empty() ? "work" : "units", subject, AuditSeverity::kContradicted, tera_text(row.work_flops),
          tera_text(standard.flops),         words};
}

// The formula where at least half of the rows fit it, else what most rows say.
Standard standard_of(const std::vector<AuditedWork>& rows, const std::optional<WorkByFormula>& formula, std::int64_t world_size,
                     Findings& findings) {
  const double middle = median_work(rows);
  Standard of_rows{middle, false, "that of the other rows, " + tera_text(middle)};
  if (!formula) return of_rows;
  Standard by_formula{formula->flops_per_iteration, true, "the formula's " + tera_text(formula->flops_per_iteration)};
  const auto num_fitting = std::count_if(rows.begin(), rows.end(), [&](const AuditedWork& row) { return !is_wrong(row, by_formula); });
  if (2 * static_cast<std::size_t>(num_fitting) >= rows.size()) return by_formula;
  if (rows.size() == 1) return by_formula;  // which it is then set against and found wrong
  const double factor = middle / formula->flops_per_iteration;
  const std::string mix_up = unit_mix_up(factor, world_size);
  findings.push_back({mix_up.empty() ? "work" : "units", "all rows", AuditSeverity::kWarning, tera_text(middle),
                      tera_text(formula->flops_per_iteration),
                      "the rows' work of an iteration is " + digits_text(factor, 4) + " times that of " + formula->study + ": " +
                          (mix_up.empty() ? "the source counts another way, or trains something else" : "as if " + mix_up)});
  return of_rows;
}

double spread_of(double excess) { return std::sqrt(std::max(0.0, excess)); }

void add_standard_error(AuditedWork& row) {
  if (row.spread_fraction && row.num_iterations.value_or(0) > 1)
    row.standard_error_fraction = *row.spread_fraction / std::sqrt(static_cast<double>(*row.num_iterations - 1));
}

// The least row spreads too, so that this is a lower bound; what the formula is off is the same for both.
double least_spread(const AuditedWork& row, const AuditedWork& least) { return spread_of(row.low_flops / least.high_flops - 1); }

// Of rows that rounding alone does not explain.
void add_spread_by_formula(double flops, const AuditedWork& least, AuditedWork& row) {
  const double excess = row.work_flops / flops - 1;
  if (excess > kFormulaSlack) row.spread_fraction = spread_of(excess);
  row.spread_low_fraction = std::max(least_spread(row, least), spread_of(row.low_flops / flops - 1 - kFormulaSlack));
  row.spread_high_fraction = spread_of(row.high_flops / flops - 1 + kFormulaSlack);
  add_standard_error(row);
}

// None where rounding leaves it at 0.
void add_least_spread(const AuditedWork& least, AuditedWork& row) {
  const double spread = least_spread(row, least);
  if (spread == 0) return;
  row.spread_fraction = row.spread_low_fraction = spread;
  add_standard_error(row);
}

const AuditedWork& least_of(const std::vector<AuditedWork>& rows) {
  return *std::min_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.work_flops < b.work_flops; });
}

// "281.62 to 284.75 TFLOP".
std::string extent_text(const std::vector<AuditedWork>& rows) {
  const auto [least, most] =
      std::minmax_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.work_flops < b.work_flops; });
  return digits_text(least->work_flops / kTera, 2) + " to " + tera_text(most->work_flops);
}

// Whether rounding alone lets all rows be one number.
AuditFinding one_number(const std::vector<AuditedWork>& sound, const Standard& standard) {
  double low = 0, high = sound.front().high_flops, most = 0, least = sound.front().work_flops;
  for (const AuditedWork& row : sound) {
    low = std::max(low, row.low_flops);
    high = std::min(high, row.high_flops);
    most = std::max(most, row.work_flops);
    least = std::min(least, row.work_flops);
  }
  const std::string published = sound.size() == 1 ? tera_text(least) : extent_text(sound);
  const std::string recomputed = standard.is_formula ? tera_text(standard.flops) : "";
  if (low <= high && (!standard.is_formula || (low <= standard.flops && standard.flops <= high)))
    return {"work", "all rows", AuditSeverity::kConfirmed, published, recomputed, "work of an iteration is one number within rounding"};
  const std::string words =
      sound.size() == 1 ? "throughput x time is " + fraction_text(least / standard.flops - 1) + " off the formula, more than rounding"
                        : "throughput x time differs by " + fraction_text(most / least - 1) +
                              " between rows of the same work, more than rounding: as the mean of work / time does when steps spread";
  return {"work", "all rows", AuditSeverity::kWarning, published, recomputed, words};
}

AuditFinding nothing_to_check(const std::string& words) { return {"work", "", AuditSeverity::kNotCheckable, "", "", words}; }

}  // namespace

WorkAudit audit_work(const Published& published, const std::optional<WorkByFormula>& formula) {
  WorkAudit audit;
  audit.rows = work_rows(published);
  if (audit.rows.empty()) {
    audit.findings.push_back(nothing_to_check("no row has both a step time and a throughput: their product cannot be checked"));
    return audit;
  }
  if (!formula)
    audit.findings.push_back(nothing_to_check("work by formula: no study of the workspace trains this model with this batch; once one of " +
                                              published.name + " was run or simulated, the table can be audited again"));
  if (!formula && audit.rows.size() == 1) return audit;
  const std::int64_t world_size = published.setting.layout.world_size;
  const Standard standard = standard_of(audit.rows, formula, world_size, audit.findings);
  const bool two_alone = audit.rows.size() == 2 && !standard.is_formula;  // which of them is wrong is not known
  std::vector<AuditedWork> sound;
  for (const AuditedWork& row : audit.rows)
    if (is_wrong(row, standard))
      audit.findings.push_back(wrong_row(row, two_alone ? listed({audit.rows[0].arm, audit.rows[1].arm}) : row.arm, standard, world_size));
    else
      sound.push_back(row);
  if (sound.empty()) return audit;
  audit.spread_is_least = !standard.is_formula;
  if (sound.size() < 2 && !standard.is_formula) return audit;
  audit.findings.push_back(one_number(sound, standard));
  const bool is_one_number = audit.findings.back().severity == AuditSeverity::kConfirmed;
  const AuditedWork least = least_of(sound);
  for (AuditedWork& row : audit.rows) {
    if (is_wrong(row, standard)) continue;
    row.excess_fraction = row.work_flops / (standard.is_formula ? standard.flops : least.work_flops) - 1;
    if (is_one_number) continue;
    if (standard.is_formula)
      add_spread_by_formula(standard.flops, least, row);
    else
      add_least_spread(least, row);
  }
  return audit;
}

}  // namespace rematch::rules::audit
