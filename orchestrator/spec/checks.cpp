#include "orchestrator/spec/checks.h"

#include <algorithm>
#include <utility>

#include "orchestrator/spec/keys.h"
#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/optimizer_problems.h"
#include "schemas/protocol/parallel_dims.h"

namespace rematch::spec {

namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

void check_name(ParseState& state) {
  const std::string& name = state.spec.common.study;
  const char* const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const bool fit = !name.empty() && name.size() <= 64 && name.front() != '.' && name.find_first_not_of(allowed) == std::string::npos;
  if (!fit && state.sound({"name"}))
    state.refuse_first({"name"},
                       "wanted 1 to 64 letters, digits, '.', '_' or '-', not starting with '.' (it names a folder); found '" + name + "'");
}

void check_device(ParseState& state) {
  const auto& backend = state.spec.common.backend;
  const auto& trainer = state.trainer;
  if (!contains(trainer.devices, backend.device))
    state.refuse_first({"backend.device"}, unknown_name_message(backend.device, "a device of this trainer", trainer.devices));
  if (!contains(trainer.attention_backends, backend.attention))
    state.refuse_first({"backend.attention"},
                       unknown_name_message(backend.attention, "an attention backend of this trainer", trainer.attention_backends));
  if (backend.memory_limit_bytes && backend.device == "cuda" && state.sound({"backend.device"}))
    state.refuse_first({"backend.memory_limit"}, "a limit is for the modelled device (cpu, meta); device cuda has the memory that it has");
}

// The trainer lists what it can do as "key=value". A key that it does not list has its default only.
void check_mode(ParseState& state, const KeyRow& row) {
  const std::string key = row.key.substr(row.key.find('.') + 1);
  Names can;
  for (const auto& mode : state.trainer.optimizer_modes)
    if (mode.rfind(key + "=", 0) == 0) can.push_back(mode.substr(key.size() + 1));
  SweepSpec defaults;
  if (can.empty()) can.push_back(show_value(row, defaults));
  const std::string found = show_value(row, state.spec);
  if (!contains(can, found)) state.refuse_first({row.key}, "this trainer can do " + join(can, ", ") + " only; found " + found);
}

void check_modes(ParseState& state) {
  for (const auto& row : key_rows()) {
    const bool is_mode = row.key.rfind("features.", 0) == 0 || row.key == "training.bf16" ||
                         (row.key.rfind("optimizer.", 0) == 0 && (row.kind == Kind::kBoolean || row.kind == Kind::kText));
    if (is_mode && state.sound({row.key})) check_mode(state, row);
  }
}

void check_optimizer(ParseState& state) {
  for (const auto& problem : protocol::optimizer_problems(state.spec.common.optimizer)) {
    const std::string key = "optimizer." + problem.option;
    if (state.sound({key})) state.refuse_first({key}, problem.message);
  }
}

void check_axes(ParseState& state) {
  const auto& sizes = state.spec.common.parallel;
  const std::pair<const char*, std::int64_t> degrees[] = {{"tensor_model_parallel_size", sizes.tensor_model_parallel_size},
                                                          {"pipeline_model_parallel_size", sizes.pipeline_model_parallel_size},
                                                          {"context_parallel_size", sizes.context_parallel_size},
                                                          {"expert_model_parallel_size", sizes.expert_model_parallel_size}};
  const Names& axes = state.trainer.parallel_axes;
  for (const auto& [name, degree] : degrees) {
    if (degree > 1 && !contains(axes, name))
      state.refuse_first({std::string("parallel.") + name}, "this trainer cannot split this axis, so 1 is the only degree; found " +
                                                                std::to_string(degree) +
                                                                "; it can split: " + (axes.empty() ? "none" : join(axes, ", ")));
  }
}

// The written degree that a message of the layout rules speaks of, world_size last.
std::string key_of_degree(const ParseState& state, const std::string& message) {
  for (const char* name :
       {"expert_model_parallel_size", "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"}) {
    std::string key = std::string("parallel.") + name;
    if (message.find(name) != std::string::npos && state.places.contains(key)) return key;
  }
  return "parallel.world_size";
}

void check_batch(ParseState& state) {
  const auto& training = state.spec.common.training;
  const std::int64_t data_parallel_size = protocol::ParallelDims(state.spec.common.parallel).data_parallel_size();
  const std::int64_t unit = training.micro_batch_size * data_parallel_size;
  if (!state.sound({"training.micro_batch_size", "training.global_batch_size"}) || training.global_batch_size % unit == 0) return;
  state.refuse_first({"training.global_batch_size"},
                     "wanted a multiple of micro_batch_size * data_parallel_size = " + std::to_string(training.micro_batch_size) + " * " +
                         std::to_string(data_parallel_size) + " = " + std::to_string(unit) + "; found " +
                         std::to_string(training.global_batch_size));
}

void check_layout(ParseState& state) {
  const bool read = std::none_of(state.problems.begin(), state.problems.end(),
                                 [](const Diagnostic& problem) { return problem.path.rfind("parallel", 0) == 0; });
  if (!read) return;
  check_axes(state);
  const auto problems = protocol::parallel_problems(state.spec.common.parallel);
  for (const auto& problem : problems) state.refuse_first({key_of_degree(state, problem)}, problem);
  if (problems.empty()) check_batch(state);
  const std::int64_t world_size = state.spec.common.parallel.world_size;
  if (state.spec.ranks_per_node > 0 && state.spec.ranks_per_node < world_size)
    state.refuse_first({"launch.ranks_per_node"}, "a local launch has one node, so wanted world_size (" + std::to_string(world_size) +
                                                      ") or more; found " + std::to_string(state.spec.ranks_per_node));
}

// null when the family has no such integer field, or it is not set, or it has a problem.
std::optional<std::int64_t> model_field(const ParseState& state, const std::string& name) {
  const auto& fields = state.spec.common.model.fields;
  const auto found = fields.find(name);
  if (found == fields.end() || !state.sound({"model." + name})) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

void check_experts(ParseState& state) {
  const auto num_experts = model_field(state, "num_moe_experts");
  const std::int64_t expert_parallel_size = state.spec.common.parallel.expert_model_parallel_size;
  if (!num_experts) return;
  if (state.sound({"parallel.expert_model_parallel_size"}) && *num_experts % expert_parallel_size != 0)
    state.refuse_first({"parallel.expert_model_parallel_size", "model.num_moe_experts"},
                       "num_moe_experts (" + std::to_string(*num_experts) + ") must be a multiple of expert_model_parallel_size (" +
                           std::to_string(expert_parallel_size) + ")");
  const auto topk = model_field(state, "moe_router_topk");
  if (topk && *topk > *num_experts)
    state.refuse_first(
        {"model.moe_router_topk", "model.num_moe_experts"},
        "moe_router_topk (" + std::to_string(*topk) + ") must be at most num_moe_experts (" + std::to_string(*num_experts) + ")");
}

void check_length(ParseState& state) {
  const auto& common = state.spec.common;
  const std::int64_t wanted = common.measure.warmup_steps + common.measure.steady_steps;
  if (!state.sound({"training.train_iters", "measure.warmup", "measure.steady_steps"}) || common.training.train_iters >= wanted) return;
  state.refuse_first({"training.train_iters"}, "wanted at least warmup + steady_steps = " + std::to_string(common.measure.warmup_steps) +
                                                   " + " + std::to_string(common.measure.steady_steps) + "; found " +
                                                   std::to_string(common.training.train_iters));
}

}  // namespace

void check_sweep(ParseState& state) {
  check_name(state);
  check_device(state);
  check_modes(state);
  check_optimizer(state);
  check_layout(state);
  check_experts(state);
  check_length(state);
}

}  // namespace rematch::spec
