// What tests of audits look for: findings, sentences, pairs by arm.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/rules/audit_published.h"
#include "orchestrator/rules/model_labels.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::rules {

// By its name in sweeps/published.
inline protocol::Published shipped(const std::string& name) {
  return protocol::read_published(std::string(REMATCH_SOURCE_DIR "/sweeps/published/") + name + ".json");
}

inline std::optional<ModelLabels> labels_of(const protocol::Published& table) {
  return model_labels(spec::example_trainer("valid-families"), table.setting);
}

inline std::vector<AuditFinding> findings_of(const PublishedAudit& audit, const std::string& check, const std::string& subject = "") {
  std::vector<AuditFinding> found;
  std::copy_if(audit.findings.begin(), audit.findings.end(), std::back_inserter(found),
               [&](const AuditFinding& finding) { return finding.check == check && (subject.empty() || finding.subject == subject); });
  return found;
}

inline bool any_says(const std::vector<AuditFinding>& findings, AuditSeverity severity, const std::string& words) {
  return std::any_of(findings.begin(), findings.end(), [&](const AuditFinding& finding) {
    return finding.severity == severity && finding.words.find(words) != std::string::npos;
  });
}

inline bool any_has(const std::vector<std::string>& sentences, const std::string& words) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
}

inline std::ptrdiff_t num_confirmed(const PublishedAudit& audit) {
  return std::count_if(audit.deltas.begin(), audit.deltas.end(),
                       [](const AuditedDelta& delta) { return delta.verdict == AuditSeverity::kConfirmed; });
}

inline const AuditedPair& pair_of(const PublishedAudit& audit, const std::string& arm) {
  return *std::find_if(audit.pairs.begin(), audit.pairs.end(), [&](const AuditedPair& pair) { return pair.arm == arm; });
}

}  // namespace rematch::rules
