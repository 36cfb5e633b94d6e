// Words that captions of plots share. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/verdicts.h"
#include "schemas/protocol/outcome.h"

namespace rematch::report {

// "Figures are predicted."
inline std::string provenance_sentence(const std::optional<protocol::Provenance>& provenance) {
  return provenance ? "Figures are " + std::string(protocol::to_string(*provenance)) + "." : "";
}

// An arm that did not pass in every run says so wherever it is drawn: "moe_act (borderline)".
inline std::string arm_label(const base::ArmVerdict& arm) {
  return arm.outcome == base::Outcome::kPass ? arm.arm : arm.arm + " (" + std::string(base::to_string(arm.outcome)) + ")";
}

}  // namespace rematch::report
