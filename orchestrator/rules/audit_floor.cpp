// Check: a row with more labels than another and no lower peak. Dropping more then lowers nothing that binds: the peak may be where no
// label reaches, and the savings of both rows are lower bounds.
#include <algorithm>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::PublishedRow;

const std::vector<std::string>* labels_of(const PublishedRow& row) {
  const bool compared = !failed(row) && row.peak_allocated && row.recompute && row.recompute->recompute_granularity == "selective";
  return compared && row.recompute->recompute_modules ? &*row.recompute->recompute_modules : nullptr;
}

bool has_all(const std::vector<std::string>& labels, const std::vector<std::string>& of) {
  return std::all_of(of.begin(), of.end(),
                     [&](const std::string& label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); });
}

bool adds_labels(const PublishedRow& more, const PublishedRow& fewer) {
  const auto* labels = labels_of(more);
  const auto* of = labels_of(fewer);
  return labels != nullptr && of != nullptr && !of->empty() && of->size() < labels->size() && has_all(*labels, *of);
}

}  // namespace

Findings floor_findings(const protocol::Published& published) {
  Findings findings;
  for (const PublishedRow& more : published.rows)
    for (const PublishedRow& fewer : published.rows) {
      if (!adds_labels(more, fewer) || more.precision != fewer.precision) continue;
      if (!is_same_view(*more.peak_allocated, *fewer.peak_allocated)) continue;
      if (printed_range(more.peak_allocated->figure).high < printed_range(fewer.peak_allocated->figure).low) continue;
      findings.push_back({"floor", name_of(more), AuditSeverity::kWarning, more.peak_allocated->figure.as_published,
                          fewer.peak_allocated->figure.as_published,
                          "has every label of " + name_of(fewer) +
                              " and more, and no lower peak: what binds may be out of reach of labels, " +
                              "and the savings of both are then at least what is shown"});
    }
  return findings;
}

}  // namespace rematch::rules::audit
