// What each row may be set against: the control where both ended well; where one failed, the control after the last iteration that both
// completed; where the control cannot serve, another row that ended well, as a reference and not as a control.
#include <algorithm>
#include <map>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedRow;

std::optional<double> difference(const std::optional<protocol::PublishedMean>& own, const std::optional<protocol::PublishedMean>& other) {
  if (!own || !other || !is_same_window(*own, *other)) return std::nullopt;
  return stats::difference_fraction(own->value, other->value);
}

void add_peak(const PublishedRow& row, const PublishedRow& against, AuditedPair& pair) {
  const std::int64_t own = row.peak_allocated->figure.bytes;
  const std::int64_t other = against.peak_allocated->figure.bytes;
  pair.is_view_stated = is_view_stated(*row.peak_allocated);
  pair.peak_delta_bytes = own - other;
  pair.peak_fraction = stats::difference_fraction(static_cast<double>(own), static_cast<double>(other));
}

AuditedPair without_numbers(const PublishedRow& row, const std::string& why) {
  AuditedPair pair;
  pair.arm = name_of(row);
  pair.no_comparison = why;
  return pair;
}

AuditedPair of_other_precision(const PublishedRow& row, const PublishedRow& against) {
  return without_numbers(row, "its precision is " + row.precision + ", that of " + name_of(against) + " " + against.precision);
}

AuditedPair with_basis(const PublishedRow& row, const PublishedRow& against, PairBasis basis) {
  AuditedPair pair;
  pair.arm = name_of(row);
  pair.against = name_of(against);
  pair.basis = basis;
  return pair;
}

// Both ended well, or nothing is said of their end.
AuditedPair pair_of(const PublishedRow& row, const PublishedRow& against, PairBasis basis) {
  if (row.precision != against.precision) return of_other_precision(row, against);
  AuditedPair pair = with_basis(row, against, basis);
  if (row.peak_allocated && against.peak_allocated && is_same_view(*row.peak_allocated, *against.peak_allocated))
    add_peak(row, against, pair);
  pair.time_fraction = difference(row.step_time_ms, against.step_time_ms);
  pair.tflops_fraction = difference(row.tflops_per_gpu, against.tflops_per_gpu);
  if (pair.peak_fraction || pair.time_fraction || pair.tflops_fraction) return pair;
  AuditedPair none = without_numbers(row, "no figure of both is of the same ranks and iterations");
  none.against = pair.against;
  return none;
}

// One of the two failed.
AuditedPair pair_at_last_common(const PublishedRow& row, const PublishedRow& control) {
  if (row.precision != control.precision) return of_other_precision(row, control);
  const auto own = row.outcome.iterations_completed;
  const auto other = control.outcome.iterations_completed;
  if (!own || !other) return without_numbers(row, "how many iterations it and " + name_of(control) + " completed is not stated");
  const std::int64_t common = std::min(*own, *other);
  if (common == 0) return without_numbers(row, "it and " + name_of(control) + " completed no iteration in common");
  const bool both = row.peak_allocated && control.peak_allocated && row.peak_allocated->after_iteration == common &&
                    is_same_view(*row.peak_allocated, *control.peak_allocated);
  if (!both)
    return without_numbers(
        row, "no peak of it and of " + name_of(control) + " after iteration " + std::to_string(common) + ", the last that both completed");
  AuditedPair pair = with_basis(row, control, PairBasis::kAfterIteration);
  pair.after_iteration = common;
  add_peak(row, control, pair);
  return pair;
}

AuditedPair pair_with_reference(const PublishedRow& row, const PublishedRow* reference) {
  if (failed(row)) return without_numbers(row, "it failed, and no row without recompute is there to set it against");
  if (reference == nullptr) return without_numbers(row, "no other row ended well");
  if (reference == &row) return without_numbers(row, "it is the reference of the others");
  return pair_of(row, *reference, PairBasis::kReference);
}

AuditedPair audited_pair(const PublishedRow& row, const PublishedRow* control, const PublishedRow* reference) {
  if (!row.recompute) return without_numbers(row, "it names no recompute setting");
  if (control == nullptr) return pair_with_reference(row, reference);
  if (!failed(row) && !failed(*control)) return pair_of(row, *control, PairBasis::kControl);
  AuditedPair pair = pair_at_last_common(row, *control);
  if (pair.basis != PairBasis::kNone || failed(row)) return pair;
  AuditedPair beside = pair_with_reference(row, reference);
  return beside.basis == PairBasis::kNone ? pair : beside;
}

}  // namespace

const PublishedRow* reference_row(const Published& published) {
  const PublishedRow* control = find_control(published);
  if (control != nullptr && !failed(*control)) return control;
  std::map<std::string, int> times_named;
  for (const PublishedRow& row : published.rows)
    for (const protocol::PublishedDelta& delta : row.deltas) ++times_named[delta.against];
  const PublishedRow* reference = nullptr;
  for (const PublishedRow& row : published.rows) {
    if (!may_stand(row)) continue;
    if (reference == nullptr || times_named[*row.arm] > times_named[*reference->arm]) reference = &row;
  }
  return reference;
}

std::vector<AuditedPair> audited_pairs(const Published& published) {
  const PublishedRow* control = find_control(published);
  const PublishedRow* reference = reference_row(published);
  std::vector<AuditedPair> pairs;
  for (const PublishedRow& row : published.rows)
    if (&row != control) pairs.push_back(audited_pair(row, control, reference));
  return pairs;
}

}  // namespace rematch::rules::audit
