#include "orchestrator/plan/simulate.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "orchestrator/base/device_table.h"
#include "orchestrator/spec/expert_load.h"
#include "orchestrator/spec/units.h"

namespace rematch::plan {

namespace {

using spec::kSimulateOrigin;
using spec::SweepSpec;

// Options of the trial that a prediction depends on beside its own; their origins are kept with it.
constexpr const char* kTrialAssumptions[] = {"backend.attention",
                                             "features.cross_entropy_gradient",
                                             "features.moe_shared_expert_overlap",
                                             "features.cuda_graph_impl",
                                             "optimizer.use_precision_aware_optimizer",
                                             "optimizer.grad_reduce_in_fp32",
                                             "optimizer.gradient_accumulation_fusion"};

std::string origin_of(const SweepSpec& spec, const std::string& key) {
  const auto row = std::find_if(spec.origins.begin(), spec.origins.end(), [&](const auto& each) { return each.key == key; });
  return row == spec.origins.end() ? "default" : row->origin;
}

void set_origin(SweepSpec& spec, const std::string& key, const std::string& value, const std::string& origin) {
  const auto row = std::find_if(spec.origins.begin(), spec.origins.end(), [&](const auto& each) { return each.key == key; });
  if (row != spec.origins.end()) *row = {key, value, origin};
}

const base::DeviceRow& row_of(const SweepSpec& spec) {
  const base::DeviceRow* row = base::find_device(spec.simulate.device);
  if (row == nullptr) throw std::logic_error("a sweep without problems names a device of the table; found '" + spec.simulate.device + "'");
  return *row;
}

// A figure that the sweep may write, else the table's.
std::int64_t take_bytes(SweepSpec& spec, protocol::PredictionSpec& prediction, const std::string& name,
                        const std::optional<std::int64_t>& written, const base::Sourced<std::int64_t>& of_table) {
  const std::string key = "simulate." + name;
  const std::string of_row = "device table, " + prediction.device + ": " + of_table.origin;
  prediction.origins[name] = written ? origin_of(spec, key) : of_row;
  if (!written) set_origin(spec, key, spec::format_size_bytes(of_table.value), of_row);
  return written.value_or(of_table.value);
}

protocol::PredictionSpec prediction_of(SweepSpec& spec) {
  const base::DeviceRow& row = row_of(spec);
  const spec::SimulateSpec wanted = spec.simulate;
  protocol::PredictionSpec prediction;
  prediction.device = wanted.device;
  prediction.origins["device"] = origin_of(spec, "simulate.device");
  prediction.device_memory_bytes = take_bytes(spec, prediction, "device_memory", wanted.device_memory_bytes, row.memory_bytes);
  prediction.outside_allocator_bytes =
      take_bytes(spec, prediction, "outside_allocator", wanted.outside_allocator_bytes, row.outside_allocator_bytes);
  prediction.workspace_bytes = take_bytes(spec, prediction, "workspace", wanted.workspace_bytes, row.workspace_bytes);
  prediction.graph_pool_bytes = wanted.graph_pool_bytes;
  prediction.origins["graph_pool"] = origin_of(spec, "simulate.graph_pool");
  const auto load = std::get<spec::ResolvedLoad>(spec::resolve_expert_load(spec));
  prediction.expert_load = load.load;
  prediction.origins["expert_load"] = wanted.expert_load ? origin_of(spec, "simulate.expert_load") : load.otherwise;
  set_origin(spec, "simulate.expert_load", load.load.kind, prediction.origins["expert_load"]);
  for (const char* key : kTrialAssumptions) prediction.origins[key] = origin_of(spec, key);
  if (wanted.note) prediction.origins["note"] = *wanted.note;
  return prediction;
}

// A limit that the sweep writes stays, null too: no limit.
void take_capacity(SweepSpec& spec, protocol::PredictionSpec& prediction) {
  auto& limit = spec.common.backend.memory_limit_bytes;
  if (origin_of(spec, "backend.memory_limit") == "default") {
    const std::string origin = "device_memory less outside_allocator";
    limit = prediction.device_memory_bytes - prediction.outside_allocator_bytes;
    set_origin(spec, "backend.memory_limit", spec::format_size_bytes(*limit), origin);
  }
  prediction.origins["capacity"] = origin_of(spec, "backend.memory_limit");
}

// Steps are alike once the optimizer's state is there, and nobody's clock is read: few are enough, in any order.
void take_steps(SweepSpec& spec) {
  spec.common.training.train_iters = spec.simulate.train_iters;
  spec.common.measure = {.steady_steps = spec.simulate.train_iters - 1, .warmup_steps = 1};
  spec.num_blocks = 1;
  spec.blocks_auto = false;
  const std::string num_steps = std::to_string(spec.simulate.train_iters);
  set_origin(spec, "training.train_iters", num_steps, "simulate.train_iters");
  set_origin(spec, "measure.steady_steps", std::to_string(spec.common.measure.steady_steps), kSimulateOrigin);
  set_origin(spec, "measure.warmup", "1", kSimulateOrigin);
  set_origin(spec, "measure.blocks", "1", kSimulateOrigin);
}

}  // namespace

SweepSpec simulated(const SweepSpec& spec) {
  SweepSpec result = spec;
  protocol::PredictionSpec prediction = prediction_of(result);
  take_capacity(result, prediction);
  take_steps(result);
  result.common.prediction = std::move(prediction);
  return result;
}

}  // namespace rematch::plan
