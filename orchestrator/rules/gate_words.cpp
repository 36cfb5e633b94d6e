#include "orchestrator/rules/gate_words.h"

#include <array>
#include <cstdio>

namespace rematch::rules {

namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

}  // namespace

std::string gate_difference_text(double value, GateUnit unit) {
  switch (unit) {
    case GateUnit::kFraction: return printed("%+.2f %%", value * 100);
    case GateUnit::kBytes: return printed("%+.0f bytes", value) + printed(" (%+.3f GB)", value * 1e-9);
    case GateUnit::kNanoseconds: return printed("%+.2f ms", value * 1e-6);
    case GateUnit::kNone: break;
  }
  return printed("%+g", value);
}

std::string gate_figure_text(double value, GateUnit unit) {
  switch (unit) {
    case GateUnit::kFraction: return printed("%.2f %%", value * 100);
    case GateUnit::kBytes: return printed("%.0f bytes", value) + printed(" (%.3f GB)", value * 1e-9);
    case GateUnit::kNanoseconds: return printed("%.2f ms", value * 1e-6);
    case GateUnit::kNone: break;
  }
  return printed("%g", value);
}

}  // namespace rematch::rules
