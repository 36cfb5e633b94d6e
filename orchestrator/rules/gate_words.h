// Figures of gates in words. Internal to gate_*.cpp. Pure.
#pragma once

#include <string>

#include "orchestrator/rules/gate.h"

namespace rematch::rules {

// A difference with its sign, in the unit of the bound.
std::string gate_difference_text(double value, GateUnit unit);
std::string gate_figure_text(double value, GateUnit unit);

inline bool is_passed(const Gate& gate, double value) { return gate.sense == GateSense::kAbove ? value > gate.bound : value < gate.bound; }

}  // namespace rematch::rules
