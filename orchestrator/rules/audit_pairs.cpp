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

constexpr const char* kReference = "reference, not control";

std::optional<double> value_of(const std::optional<protocol::PublishedMean>& mean) {
  return mean ? std::optional(mean->value) : std::nullopt;
}

void add_peak(const PublishedRow& row, const PublishedRow& against, AuditedPair& pair) {
  const std::int64_t own = row.peak_allocated->figure.bytes;
  const std::int64_t other = against.peak_allocated->figure.bytes;
  pair.peak_delta_bytes = own - other;
  pair.peak_fraction = stats::difference_fraction(static_cast<double>(own), static_cast<double>(other));
}

// Both ended well, or nothing is said of their end.
AuditedPair pair_of(const PublishedRow& row, const PublishedRow& against, const std::string& basis) {
  AuditedPair pair{name_of(row), name_of(against), basis, ""};
  if (row.peak_allocated && against.peak_allocated && is_same_view(*row.peak_allocated, *against.peak_allocated))
    add_peak(row, against, pair);
  pair.time_fraction = stats::difference_fraction(value_of(row.step_time_ms), value_of(against.step_time_ms));
  pair.tflops_fraction = stats::difference_fraction(value_of(row.tflops_per_gpu), value_of(against.tflops_per_gpu));
  if (!pair.peak_fraction && !pair.time_fraction && !pair.tflops_fraction) {
    pair.basis.clear();
    pair.no_comparison = "no figure of both";
  }
  return pair;
}

AuditedPair without_numbers(const PublishedRow& row, const std::string& why) { return {name_of(row), "", "", why}; }

// One of the two failed.
AuditedPair pair_at_last_common(const PublishedRow& row, const PublishedRow& control) {
  const auto own = row.outcome.iterations_completed;
  const auto other = control.outcome.iterations_completed;
  if (!own || !other) return without_numbers(row, "how many iterations it and " + name_of(control) + " completed is not stated");
  const std::int64_t common = std::min(*own, *other);
  if (common == 0) return without_numbers(row, "it and " + name_of(control) + " completed no iteration in common");
  const bool both = row.peak_allocated && control.peak_allocated && row.peak_allocated->after_iteration == common &&
                    is_same_view(*row.peak_allocated, *control.peak_allocated);
  const std::string after = "after iteration " + std::to_string(common);
  if (!both) return without_numbers(row, "no peak of it and of " + name_of(control) + " " + after + ", the last that both completed");
  AuditedPair pair{name_of(row), name_of(control), after + ", not a pass", ""};
  add_peak(row, control, pair);
  return pair;
}

AuditedPair pair_with_reference(const PublishedRow& row, const PublishedRow* reference) {
  if (failed(row)) return without_numbers(row, "it failed, and no row without recompute is there to set it against");
  if (reference == nullptr) return without_numbers(row, "no other row ended well");
  if (reference == &row) return without_numbers(row, "it is the reference of the others");
  return pair_of(row, *reference, kReference);
}

AuditedPair audited_pair(const PublishedRow& row, const PublishedRow* control, const PublishedRow* reference) {
  if (!row.recompute) return without_numbers(row, "it names no recompute setting");
  if (control == nullptr) return pair_with_reference(row, reference);
  if (!failed(row) && !failed(*control)) return pair_of(row, *control, "control");
  AuditedPair pair = pair_at_last_common(row, *control);
  if (!pair.basis.empty() || failed(row)) return pair;
  AuditedPair beside = pair_with_reference(row, reference);
  return beside.basis.empty() ? pair : beside;
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
