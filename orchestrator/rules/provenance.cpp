#include "orchestrator/rules/provenance.h"

namespace rematch::rules {

std::optional<protocol::Provenance> provenance_of(const base::AttemptRows& attempt) {
  for (const base::RankRows& rank : attempt.ranks)
    if (rank.hello) return rank.hello->provenance;
  return std::nullopt;
}

std::optional<protocol::Provenance> provenance_of(const base::StudyRows& study) {
  for (const base::AttemptRows& attempt : study.attempts)
    if (const auto provenance = provenance_of(attempt)) return provenance;
  return std::nullopt;
}

}  // namespace rematch::rules
