// Check: each difference that the source prints follows from the two figures that it prints.
#include <cmath>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedDelta;
using protocol::PublishedRow;

struct Sides {
  std::optional<PrintedRange> own;
  std::optional<PrintedRange> against;
};

AuditedDelta entry_of(const PublishedRow& row, const PublishedDelta& delta, const Sides& sides) {
  AuditedDelta entry;
  entry.arm = name_of(row);
  entry.against = delta.against;
  entry.of = delta.of;
  if (!sides.own) entry.reason = entry.arm + " has no " + delta.of;
  if (!sides.against) entry.reason += (entry.reason.empty() ? "" : "; ") + delta.against + " has no " + delta.of;
  return entry;
}

void settle(const PrintedRange& printed, const PrintedRange& recomputed, AuditedDelta& entry) {
  entry.low = recomputed.low;
  entry.high = recomputed.high;
  entry.verdict = overlap(printed, recomputed) ? AuditSeverity::kConfirmed : AuditSeverity::kContradicted;
}

AuditedDelta of_percent(const PublishedRow& row, const PublishedDelta& delta, const Sides& sides) {
  AuditedDelta entry = entry_of(row, delta, sides);
  entry.published_fraction = *delta.percent / 100;
  if (!entry.reason.empty()) return entry;
  const std::optional<PrintedRange> recomputed = ratio_less_one(*sides.own, *sides.against);
  if (!recomputed) {
    entry.reason = delta.of + " of " + delta.against + " may be 0";
    return entry;
  }
  entry.recomputed_fraction = recomputed->value;
  settle(scaled(printed_range(*delta.percent, *delta.decimal_places), 0.01), *recomputed, entry);
  if (entry.verdict == AuditSeverity::kContradicted)
    entry.reason = "the two figures give " + fraction_text(recomputed->low) + " to " + fraction_text(recomputed->high);
  return entry;
}

AuditedDelta of_magnitude(const PublishedRow& row, const PublishedDelta& delta, const Sides& sides) {
  AuditedDelta entry = entry_of(row, delta, sides);
  entry.published_bytes = delta.magnitude->bytes;
  if (delta.of != "peak_allocated") entry.reason = "bytes of " + delta.of;
  if (!entry.reason.empty()) return entry;
  const PrintedRange recomputed = magnitude(*sides.own, *sides.against);
  entry.recomputed_bytes = std::llround(recomputed.value);
  settle(printed_range(*delta.magnitude), recomputed, entry);
  if (entry.verdict == AuditSeverity::kContradicted)
    entry.reason = "the two figures give " + bytes_text(recomputed.low) + " to " + bytes_text(recomputed.high);
  return entry;
}

std::string published_text(const AuditedDelta& delta) {
  return delta.published_bytes ? bytes_text(static_cast<double>(*delta.published_bytes)) : fraction_text(*delta.published_fraction);
}

std::string recomputed_text(const AuditedDelta& delta) {
  if (delta.recomputed_bytes) return bytes_text(static_cast<double>(*delta.recomputed_bytes));
  return delta.recomputed_fraction ? fraction_text(*delta.recomputed_fraction) : "";
}

AuditFinding summary_of(std::size_t num_confirmed) {
  const std::string words =
      num_confirmed == 1 ? "one printed difference follows from the printed figures within their rounding"
                         : std::to_string(num_confirmed) + " printed differences follow from the printed figures within their rounding";
  return {"deltas", "", AuditSeverity::kConfirmed, "", "", words};
}

}  // namespace

std::optional<PrintedRange> figure_range(const PublishedRow& row, const std::string& of) {
  if (of == "peak_allocated" && row.peak_allocated) return printed_range(row.peak_allocated->figure);
  if (of == "step_time_ms" && row.step_time_ms) return printed_range(*row.step_time_ms);
  return std::nullopt;
}

std::vector<AuditedDelta> audited_deltas(const Published& published) {
  std::vector<AuditedDelta> deltas;
  for (const PublishedRow& row : published.rows)
    for (const PublishedDelta& delta : row.deltas) {
      const PublishedRow* against = protocol::find_row(published, delta.against);
      const Sides sides{figure_range(row, delta.of), against == nullptr ? std::nullopt : figure_range(*against, delta.of)};
      if (delta.percent) deltas.push_back(of_percent(row, delta, sides));
      if (delta.magnitude) deltas.push_back(of_magnitude(row, delta, sides));
    }
  return deltas;
}

Findings delta_findings(const std::vector<AuditedDelta>& deltas) {
  Findings findings;
  std::size_t num_confirmed = 0;
  for (const AuditedDelta& delta : deltas) {
    if (delta.verdict == AuditSeverity::kConfirmed) {
      ++num_confirmed;
      continue;
    }
    findings.push_back({"deltas", delta.arm, delta.verdict, published_text(delta), recomputed_text(delta),
                        delta.of + " against " + delta.against + ": " + delta.reason});
  }
  if (num_confirmed > 0) findings.insert(findings.begin(), summary_of(num_confirmed));
  if (deltas.empty()) findings.push_back({"deltas", "", AuditSeverity::kNote, "", "", "the source prints no difference of two rows"});
  return findings;
}

}  // namespace rematch::rules::audit
