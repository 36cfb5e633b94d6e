#include "orchestrator/base/planned_provenance.h"

namespace rematch::base {

protocol::Provenance planned_provenance(const std::string& device) {
  if (device == "meta") return protocol::Provenance::kPredicted;
  return device == "cpu" ? protocol::Provenance::kModelledDevice : protocol::Provenance::kMeasured;
}

std::optional<protocol::Provenance> planned_provenance(const StudyPlan& plan) {
  if (plan.trials.empty()) return std::nullopt;
  return planned_provenance(plan.trials.front().backend.device);
}

}  // namespace rematch::base
