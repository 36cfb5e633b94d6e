#include "orchestrator/spec/simulate_checks.h"

#include <algorithm>
#include <variant>

#include "orchestrator/base/device_table.h"
#include "orchestrator/spec/expert_load.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/units.h"

namespace rematch::spec {

namespace {

bool has_problem_in(const ParseState& state, const char* section) {
  return std::any_of(state.problems.begin(), state.problems.end(),
                     [&](const Diagnostic& problem) { return problem.path.rfind(section, 0) == 0; });
}

// A limit that the device cannot give is the user's word all the same.
void warn_of_limit(ParseState& state, std::int64_t available_bytes) {
  const std::string key = "backend.memory_limit";
  const auto limit_bytes = state.spec.common.backend.memory_limit_bytes;
  if (state.use != SweepUse::kSimulate || !limit_bytes || *limit_bytes <= available_bytes) return;
  state.warnings.emplace_back(
      base::WarningId::kLimitAboveDevice,
      make_diagnostic(state.place_of(key), key,
                      "is taken as the allocator's capacity (" + format_size_bytes(*limit_bytes) +
                          "), though simulate.device_memory less outside_allocator, " + format_size_bytes(available_bytes) +
                          ", is all that " + state.spec.simulate.device + " leaves it"));
}

void check_capacity(ParseState& state) {
  const SimulateSpec& simulate = state.spec.simulate;
  const base::DeviceRow* row = base::find_device(simulate.device);
  const std::int64_t memory_bytes = simulate.device_memory_bytes.value_or(row->memory_bytes.value);
  const std::int64_t outside_bytes = simulate.outside_allocator_bytes.value_or(row->outside_allocator_bytes.value);
  if (outside_bytes < memory_bytes) {
    warn_of_limit(state, memory_bytes - outside_bytes);
    return;
  }
  state.refuse_first({"simulate.outside_allocator", "simulate.device_memory"}, "wanted less outside the allocator than the device has (" +
                                                                                   format_size_bytes(memory_bytes) + "); found " +
                                                                                   format_size_bytes(outside_bytes));
}

}  // namespace

void take_meta_device(ParseState& state) {
  const std::vector<std::string> devices = {"cpu", "cuda", "meta"};
  std::string& device = state.spec.common.backend.device;
  if (std::find(devices.begin(), devices.end(), device) == devices.end() && state.sound({"backend.device"}))
    state.refuse_first({"backend.device"}, unknown_name_message(device, "a device", devices));
  device = "meta";
  state.places["backend.device"] = {kSimulateOrigin, 0, 0};
}

void check_simulate(ParseState& state) {
  if (has_problem_in(state, "model") || has_problem_in(state, "parallel") || has_problem_in(state, "simulate")) return;
  const auto resolved = resolve_expert_load(state.spec);
  if (const auto* problem = std::get_if<LoadProblem>(&resolved))
    state.refuse_first({problem->key, "simulate.expert_load"}, problem->message);
  check_capacity(state);
}

}  // namespace rematch::spec
