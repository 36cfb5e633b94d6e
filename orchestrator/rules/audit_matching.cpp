// Check: rows that differ in something besides recompute, and what the source leaves open of the setting.
#include <map>
#include <string>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedMean;
using protocol::PublishedRow;

using RowsByValue = std::map<std::string, std::vector<std::string>>;

std::string text_of(const RowsByValue& rows) {
  std::string text;
  for (const auto& [value, names] : rows) text += (text.empty() ? "" : "; ") + value + ": " + listed(names);
  return text;
}

void check_alike(const std::string& what, const RowsByValue& rows, Findings& findings) {
  if (rows.size() < 2) return;
  findings.push_back({"matching", what, AuditSeverity::kWarning, "", "", "rows differ in it, not in recompute alone: " + text_of(rows)});
}

std::string view_of(const protocol::PublishedPeak& peak) {
  return (peak.ranks ? "of " + *peak.ranks : "of ranks not stated") +
         (peak.after_iteration ? " after iteration " + std::to_string(*peak.after_iteration) : " after an iteration not stated");
}

std::string window_of(const PublishedMean& mean) {
  if (!mean.first_iteration || !mean.last_iteration) return "iterations not stated";
  return "iterations " + std::to_string(*mean.first_iteration) + " to " + std::to_string(*mean.last_iteration);
}

void check_rows(const Published& published, Findings& findings) {
  RowsByValue precisions, views, time_windows, rate_windows;
  for (const PublishedRow& row : published.rows) {
    const std::string name = name_of(row);
    precisions[row.precision].push_back(name);
    if (row.peak_allocated) views[view_of(*row.peak_allocated)].push_back(name);
    if (row.step_time_ms) time_windows[window_of(*row.step_time_ms)].push_back(name);
    if (row.tflops_per_gpu) rate_windows[window_of(*row.tflops_per_gpu)].push_back(name);
  }
  check_alike("precision", precisions, findings);
  check_alike("peak_allocated", views, findings);
  check_alike("step_time_ms", time_windows, findings);
  check_alike("tflops_per_gpu", rate_windows, findings);
  if (precisions.size() == 1 && !published.setting.precision.starts_with(precisions.begin()->first))
    findings.push_back({"matching", "precision", AuditSeverity::kWarning, published.setting.precision, precisions.begin()->first,
                        "the setting says another precision than its rows"});
  if (rate_windows.size() == 1 && rate_windows.contains("iterations not stated"))
    findings.push_back({"matching", "tflops_per_gpu", AuditSeverity::kNote, "", "", "the source does not say of which iterations it is"});
}

// A maximum over some ranks is no maximum of the job.
void check_ranks(const Published& published, Findings& findings) {
  for (const PublishedRow& row : published.rows) {
    if (!row.peak_allocated || !row.peak_allocated->ranks || published.setting.layout.world_size == 1) continue;
    findings.push_back({"matching", "peak_allocated", AuditSeverity::kNote, "", "",
                        "is of " + *row.peak_allocated->ranks + ": the other of " + std::to_string(published.setting.layout.world_size) +
                            " ranks may hold more"});
    return;
  }
}

}  // namespace

Findings matching_findings(const Published& published) {
  Findings findings;
  check_rows(published, findings);
  check_ranks(published, findings);
  const std::vector<std::string> fields = fields_not_stated(published);
  if (!fields.empty())
    findings.push_back(
        {"matching", "what is not stated", AuditSeverity::kNote, "", "", "whoever repeats the table may differ in " + listed(fields)});
  return findings;
}

}  // namespace rematch::rules::audit
