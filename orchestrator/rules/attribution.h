// Rule: what the hot rank's peak is made of, and how much of it a recompute setting could take away at most. reports/METRICS.md defines
// both. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/attributed_peak.h"

namespace rematch::rules {

// Of the rank that ran out of memory, else of the hot rank. nullopt: not measured.
std::optional<base::AttributedPeak> attributed_peak(const base::AttemptRows& attempt);

// Of the control's first judged run that has it; nullopt: none has.
std::optional<base::AttributedPeak> control_attribution(const base::StudyRows& study, const std::string& control_arm);

// Bytes in regions of any of these labels.
std::int64_t covered_bytes(const protocol::Attribution& attribution, const std::vector<std::string>& labels);
// Activations in no region of any of these labels.
std::int64_t uncovered_activation_bytes(const protocol::Attribution& attribution, const std::vector<std::string>& labels);

// Of a setting against the peak of a control: 0 where the peak is in a phase that no label lowers. Full recompute may take all
// activations, and what regions hold beside them.
std::int64_t upper_bound_bytes(const base::AttributedPeak& control, const protocol::RecomputeSpec& recompute);

// Whether nothing that a label drops is held there.
bool no_label_lowers(protocol::Phase phase);

}  // namespace rematch::rules
