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

void check_capacity(ParseState& state) {
  const SimulateSpec& simulate = state.spec.simulate;
  const base::DeviceRow* row = base::find_device(simulate.device);
  const std::int64_t memory_bytes = simulate.device_memory_bytes.value_or(row->memory_bytes.value);
  const std::int64_t outside_bytes = simulate.outside_allocator_bytes.value_or(row->outside_allocator_bytes.value);
  if (outside_bytes < memory_bytes) return;
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
