// What live memory was for at the moment that counts: at a rank's largest peak, or when a request of it failed. Values, and the one choice
// of the step that they are of. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/attribution.h"

namespace rematch::base {

enum class Moment { kPeak, kOutOfMemory };

struct AttributedPeak {
  std::int64_t rank = 0;
  Moment moment = Moment::kPeak;
  std::optional<std::int64_t> step;  // nullopt: before the first
  protocol::Phase phase = protocol::Phase::kOther;
  protocol::Attribution attribution;  // not empty
};

// Of the control that a plan's arms will be set against, measured earlier.
struct ControlPeak {
  std::string study;
  std::string trial_id;
  std::optional<protocol::Provenance> provenance;  // nullopt: its rank has not said it
  AttributedPeak peak;
};

std::int64_t peak_allocated_bytes(const protocol::PhasePeaks& phases);
// Where that peak occurred; the earlier phase on a tie, kOther of no phases.
protocol::Phase binding_phase(const protocol::PhasePeaks& phases);
// The first step with the rank's largest allocated peak; nullptr of no steps.
const protocol::StepRecord* hottest_step(const RankRows& rank);

}  // namespace rematch::base
