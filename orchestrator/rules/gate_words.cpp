#include "orchestrator/rules/gate_words.h"

#include <cmath>

#include "orchestrator/base/number_text.h"

namespace rematch::rules {

std::string gate_difference_text(double value, GateUnit unit) {
  const std::string sign = value > 0 ? "+" : "";
  switch (unit) {
    case GateUnit::kFraction: return base::percent_text(value);
    case GateUnit::kBytes: {
      const auto bytes = std::llround(value);
      return sign + std::to_string(bytes) + " bytes (" + base::signed_bytes_text(bytes) + ")";
    }
    case GateUnit::kNanoseconds: return sign + gate_figure_text(value, unit);
    case GateUnit::kNone: break;
  }
  return sign + gate_figure_text(value, unit);
}

std::string gate_figure_text(double value, GateUnit unit) {
  switch (unit) {
    case GateUnit::kFraction: return base::percent_text(value);
    case GateUnit::kBytes: {
      const auto bytes = std::llround(value);
      return std::to_string(bytes) + " bytes (" + base::bytes_text(bytes) + ")";
    }
    case GateUnit::kNanoseconds: return base::milliseconds_text(value);
    case GateUnit::kNone: break;
  }
  return std::to_string(value);
}

}  // namespace rematch::rules
