#include "orchestrator/rules/audit_published.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "orchestrator/rules/audit_checks.h"

namespace rematch::rules {

namespace {

void append(audit::Findings more, std::vector<AuditFinding>& findings) {
  std::move(more.begin(), more.end(), std::back_inserter(findings));
}

}  // namespace

std::string_view to_string(AuditSeverity severity) {
  switch (severity) {
    case AuditSeverity::kConfirmed: return "confirmed";
    case AuditSeverity::kNote: return "note";
    case AuditSeverity::kNotCheckable: return "not checkable";
    case AuditSeverity::kWarning: return "warning";
    case AuditSeverity::kContradicted: return "contradicted";
  }
  return "unknown";
}

std::string_view to_string(TimeStands stands) {
  switch (stands) {
    case TimeStands::kNotToldApart: return "not told apart";
    case TimeStands::kBeyondLeastSpread: return "beyond the least spread";
    case TimeStands::kBeyondSpread: return "beyond the spread";
    case TimeStands::kWithinSpreadBounds: return "within what the spread may be";
    case TimeStands::kSpreadNotKnown: return "spread not known";
  }
  return "unknown";
}

base::WarningId warning_of(const AuditFinding& finding) {
  const base::WarningPage* page = base::find_warning("audit-" + finding.check);
  if (page == nullptr) throw std::logic_error("no page of the check " + finding.check);
  return page->id;
}

std::string basis_text(const AuditedPair& pair) {
  const std::string view = pair.is_view_stated ? "" : "; view not stated";
  switch (pair.basis) {
    case PairBasis::kNone: return "";
    case PairBasis::kControl: return "control" + view;
    case PairBasis::kReference: return "reference, not control" + view;
    case PairBasis::kAfterIteration: return "after iteration " + std::to_string(pair.after_iteration.value_or(0)) + ", not a pass" + view;
  }
  return "unknown";
}

PublishedAudit audit_published(const protocol::Published& published, const std::optional<WorkByFormula>& formula,
                               const std::optional<ModelLabels>& model_labels) {
  PublishedAudit result;
  result.published = published;
  result.formula = formula;
  result.model_labels = model_labels;
  result.deltas = audit::audited_deltas(published);
  audit::WorkAudit work = audit::audit_work(published, formula);
  result.spread_is_least = work.spread_is_least;
  result.times = audit::audited_times(published, work);
  result.pairs = audit::audited_pairs(published);
  append(audit::delta_findings(result.deltas), result.findings);
  append(work.findings, result.findings);
  append(audit::spread_findings(published, work, result.times), result.findings);
  append(audit::byte_unit_findings(published), result.findings);
  append(audit::rounding_findings(published), result.findings);
  append(audit::control_findings(published), result.findings);
  append(audit::matching_findings(published), result.findings);
  append(audit::repeat_findings(published), result.findings);
  append(audit::floor_findings(published), result.findings);
  result.work = std::move(work.rows);
  result.supports = audit::supports(result);
  result.leaves_open = audit::leaves_open(result);
  return result;
}

std::int64_t num_contradicted(const PublishedAudit& audit) {
  return std::count_if(audit.findings.begin(), audit.findings.end(),
                       [](const AuditFinding& finding) { return finding.severity == AuditSeverity::kContradicted; });
}

}  // namespace rematch::rules
