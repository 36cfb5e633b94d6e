// Rule: when every arm runs out of memory while the optimizer's state is made, no label can help and none may be compared: what binds is
// what a rank holds whatever it recomputes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Of the arm that held the least when its request failed. Bytes.
struct OptimizerBound {
  std::string arm;
  std::int64_t rank = 0;
  std::int64_t num_alike = 0;
  std::int64_t parameter_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t optimizer_state_bytes = 0;  // as far as it was made
  std::int64_t allocated_bytes = 0;        // all that was held
  std::int64_t requested_bytes = 0;
  std::optional<std::int64_t> capacity_bytes;
};

// `verdict` with its arms filled in. nullopt: an arm that ran ended otherwise, none ran, or what was held is not known.
std::optional<OptimizerBound> find_optimizer_bound(const base::StudyRows& study, const base::StudyVerdict& verdict);
std::string optimizer_bound_text(const OptimizerBound& bound, bool predicted);

}  // namespace rematch::rules
