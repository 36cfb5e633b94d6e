// Check: a row without recompute that ended well, which alone says what a label saves and costs; rows that are no setting at all; repeats.
#include <algorithm>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedRow;

AuditFinding control_finding(const Published& published) {
  const PublishedRow* control = find_control(published);
  if (control == nullptr) return {"control", "", AuditSeverity::kWarning, "", "", "no row without recompute: no row has a matched control"};
  const std::string name = name_of(*control);
  if (!failed(*control)) return {"control", name, AuditSeverity::kConfirmed, "", "", "a row without recompute, which did not fail"};
  const std::int64_t completed = control->outcome.iterations_completed.value_or(0);
  return {"control",
          name,
          AuditSeverity::kWarning,
          "",
          "",
          "the row without recompute ran out of memory" +
              (completed > 0 ? " after iteration " + std::to_string(completed) : std::string()) +
              ": rows that completed have no control, only each other"};
}

bool has_figures(const PublishedRow& row) { return row.peak_allocated || row.step_time_ms || row.tflops_per_gpu; }

std::string what_it_has(const PublishedRow& row) {
  std::vector<std::string> has, lacks;
  (row.peak_allocated ? has : lacks).emplace_back("peak_allocated");
  (row.step_time_ms ? has : lacks).emplace_back("step_time_ms");
  (row.tflops_per_gpu ? has : lacks).emplace_back("tflops_per_gpu");
  return "has " + listed(has) + (lacks.empty() ? "" : ", not " + listed(lacks));
}

// A figure without a setting is a figure of nobody's arm.
void check_unpaired(const PublishedRow& row, Findings& findings) {
  if (row.recompute || !has_figures(row)) return;
  findings.push_back({"control", name_of(row), AuditSeverity::kWarning, "", "",
                      "unpaired: it names no recompute setting and " + what_it_has(row) + ", so that it is set against no row"});
}

}  // namespace

Findings control_findings(const Published& published) {
  Findings findings;
  const bool names_arms = std::any_of(published.rows.begin(), published.rows.end(), [](const PublishedRow& row) { return row.arm; });
  if (names_arms) findings.push_back(control_finding(published));
  for (const PublishedRow& row : published.rows) check_unpaired(row, findings);
  return findings;
}

Findings repeat_findings(const Published& published) {
  const auto num_rows = std::count_if(published.rows.begin(), published.rows.end(), has_figures);
  if (num_rows == 0) return {};
  return {{"repeats", "all rows", AuditSeverity::kWarning, "", "",
           "one run a row: no figure has an interval, and what differs from run to run is not known"}};
}

}  // namespace rematch::rules::audit
