#include "orchestrator/base/attributed_peak.h"

#include <algorithm>

namespace rematch::base {

namespace {

protocol::PhasePeaks::const_iterator hottest_phase(const protocol::PhasePeaks& phases) {
  auto smaller = [](const auto& a, const auto& b) { return a.second.peak_allocated_bytes < b.second.peak_allocated_bytes; };
  return std::max_element(phases.begin(), phases.end(), smaller);
}

}  // namespace

std::int64_t peak_allocated_bytes(const protocol::PhasePeaks& phases) {
  const auto hottest = hottest_phase(phases);
  return hottest == phases.end() ? 0 : hottest->second.peak_allocated_bytes;
}

protocol::Phase binding_phase(const protocol::PhasePeaks& phases) {
  const auto hottest = hottest_phase(phases);
  return hottest == phases.end() ? protocol::Phase::kOther : hottest->first;
}

const protocol::StepRecord* hottest_step(const RankRows& rank) {
  auto smaller = [](const protocol::StepRecord& a, const protocol::StepRecord& b) {
    return peak_allocated_bytes(a.phases) < peak_allocated_bytes(b.phases);
  };
  const auto hottest = std::max_element(rank.steps.begin(), rank.steps.end(), smaller);
  return hottest == rank.steps.end() ? nullptr : &*hottest;
}

}  // namespace rematch::base
