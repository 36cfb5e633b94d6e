// What gates on one study look at: the figures of the arm that its answer names, and what its step times rest on. Kept with its report.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

struct GateFigures {
  std::optional<std::string> arm;  // of the answer; nullopt: none
  std::optional<std::int64_t> peak_allocated_bytes;
  std::optional<std::int64_t> peak_reserved_bytes;
  std::optional<std::int64_t> activation_peak_bytes;
  std::optional<double> step_time_ns;
  std::optional<std::int64_t> margin_bytes;      // nullopt: no budget
  std::optional<double> drift_per_slot;          // of the group whose drift is surest; nullopt: no fit
  std::optional<double> drift_p_value;           // as it
  bool drift_flagged = false;                    // of some group
  std::optional<double> aa_difference_fraction;  // largest of all blocks, by size; nullopt: no block has two controls
  std::int64_t num_timed_arms = 0;               // whose step time has a word; of a prediction none
  std::vector<std::string> undecided_arms;       // whose step time has no word, or the word undecided
};

GateFigures gate_figures(const base::StudyVerdict& verdict);

// As the database keeps it. nullopt: not such a text.
std::string gate_figures_text(const GateFigures& figures);
std::optional<GateFigures> parse_gate_figures(const std::string& text);

}  // namespace rematch::rules
