#include "orchestrator/doctor/finding.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace rematch::doctor {

const char* to_string(State state) {
  switch (state) {
    case State::kOk: return "ok";
    case State::kWarning: return "warning";
    case State::kProblem: return "problem";
  }
  return "unknown";
}

base::WarningId warning_of(const Finding& finding) {
  std::string name = finding.name.rfind("node_", 0) == 0 ? "node" : finding.name;
  std::replace(name.begin(), name.end(), '_', '-');
  const base::WarningPage* page = base::find_warning("doctor-" + name);
  if (page == nullptr) throw std::logic_error("no page of the finding " + finding.name);
  return page->id;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, kUnits.at(unit));
  return text.data();
}

}  // namespace rematch::doctor
