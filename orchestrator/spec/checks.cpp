#include "orchestrator/spec/checks.h"

#include <algorithm>
#include <utility>

#include "orchestrator/spec/keys.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/simulate_checks.h"
#include "orchestrator/spec/slurm_checks.h"
#include "orchestrator/spec/units.h"
#include "schemas/protocol/field_rules.h"
#include "schemas/protocol/find_field.h"
#include "schemas/protocol/optimizer_problems.h"
#include "schemas/protocol/parallel_dims.h"
#include "schemas/protocol/pipeline_layers.h"
#include "schemas/protocol/training_problems.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::spec {

namespace {

using Names = std::vector<std::string>;

constexpr const char* kWorldSize = "parallel.world_size";
constexpr const char* kExpertTensor = "parallel.expert_tensor_parallel_size";

bool contains(const Names& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

void check_name(ParseState& state) {
  const std::string& name = state.spec.common.study;
  if (!protocol::may_name_a_file(name) && state.sound({"name"}))
    state.refuse_first({"name"}, std::string("wanted ") + protocol::kFileNameRule + " (it names a folder); found '" + name + "'");
}

void check_device(ParseState& state) {
  const auto& backend = state.spec.common.backend;
  const auto& trainer = state.trainer;
  if (!contains(trainer.devices, backend.device))
    state.refuse_first({"backend.device"}, unknown_name_message(backend.device, "a device of this trainer", trainer.devices));
  else if (backend.device == "meta" && state.use == SweepUse::kRun)
    state.refuse_first({"backend.device"},
                       "meta only predicts: use --simulate, which says what is assumed, and keep the device that is meant");
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
    if (row.key == "features.cpu_offloading") continue;  // an arm of its own, which the plan refuses where the trainer cannot do it
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

// Megatron's experts follow the tensor-parallel size where the sweep does not say; a model without experts has none to split.
bool splits_experts_by_default(const ParseState& state) {
  const auto& fields = state.spec.common.model.fields;
  return fields.contains("num_moe_experts") && !state.places.contains(kExpertTensor);
}

void check_axes(ParseState& state) {
  const Names& axes = state.trainer.parallel_axes;
  const auto& sizes = state.spec.common.parallel;
  for (const char* name : {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
                           "expert_model_parallel_size", "expert_tensor_parallel_size", "virtual_pipeline_model_parallel_size"}) {
    const std::string key = std::string("parallel.") + name;
    const std::int64_t degree = protocol::parallel_option(sizes, name).value();
    const bool by_default = key == kExpertTensor && splits_experts_by_default(state);
    const bool is_meant = state.places.contains(key) || (by_default && contains(axes, "tensor_model_parallel_size"));
    if (degree > 1 && is_meant && !contains(axes, name))
      state.refuse_first({key}, "this trainer cannot split this axis, so 1 is the only degree; found " + std::to_string(degree) +
                                    (by_default ? ", which follows tensor_model_parallel_size: write 1" : "") +
                                    "; it can split: " + (axes.empty() ? "none" : join(axes, ", ")));
  }
}

// The written option that a message of the layout rules speaks of first, world_size last.
std::string key_of_option(const ParseState& state, const std::string& message) {
  std::string first = kWorldSize;
  std::size_t first_at = std::string::npos;
  for (const auto& row : key_rows()) {
    if (row.key.rfind("parallel.", 0) != 0 || row.key == kWorldSize || !state.places.contains(row.key)) continue;
    const std::size_t at = message.find(row.key.substr(std::string("parallel.").size()));
    if (at >= first_at) continue;
    first = row.key;
    first_at = at;
  }
  return first;
}

// Where experts of one rank each would make the layout valid, the user is told so.
std::string expert_tensor_advice(const ParseState& state, const std::string& problem) {
  const auto& sizes = state.spec.common.parallel;
  const bool follows = !state.places.contains(kExpertTensor) && sizes.expert_tensor_parallel_size > 1;
  if (!follows || problem.find("expert_tensor_parallel_size") == std::string::npos) return "";
  protocol::ParallelSpec whole_experts = sizes;
  whole_experts.expert_tensor_parallel_size = 1;
  if (!protocol::parallel_problems(whole_experts).empty()) return "";
  return "; expert_tensor_parallel_size follows tensor_model_parallel_size where it is not written: write expert_tensor_parallel_size: 1 "
         "for "
         "experts that are whole on each rank";
}

void check_training(ParseState& state) {
  for (const auto& problem : protocol::training_problems(state.spec.common.training, state.spec.common.parallel))
    state.refuse_first({"training." + problem.option}, problem.message);
}

void check_layout(ParseState& state) {
  const auto is_of = [&](const char* section) {
    return std::any_of(state.problems.begin(), state.problems.end(),
                       [&](const Diagnostic& problem) { return problem.path.rfind(section, 0) == 0; });
  };
  if (is_of("parallel")) return;
  check_axes(state);
  const auto problems = protocol::parallel_problems(state.spec.common.parallel);
  for (const auto& problem : problems) state.refuse_first({key_of_option(state, problem)}, problem + expert_tensor_advice(state, problem));
  if (problems.empty() && !is_of("training")) check_training(state);
}

// The rules that the trainer states of its families' fields.
void check_fields(ParseState& state) {
  const auto& common = state.spec.common;
  const auto* family = find_family(state.trainer, common.model.family);
  if (family == nullptr || !protocol::parallel_problems(common.parallel).empty()) return;
  for (const auto& problem : protocol::field_problems(*family, common.model.fields, common.parallel)) {
    std::vector<std::string> keys = problem.others;
    keys.push_back("model." + problem.field);
    if (state.sound(keys)) state.refuse_first(keys, problem.message);
  }
}

// The layers of the model among the pipeline ranks and their chunks.
void check_pipeline(ParseState& state) {
  const auto& common = state.spec.common;
  const auto* count = protocol::find_field<std::int64_t>(common.model.fields, "num_layers");
  if (count == nullptr || !state.sound({"model.num_layers"}) || !protocol::parallel_problems(common.parallel).empty()) return;
  for (const std::string& problem : protocol::pipeline_problems(*count, common.parallel)) {
    const std::string option = key_of_option(state, problem);
    state.refuse_first({option == kWorldSize ? "parallel.pipeline_model_parallel_size" : option, "model.num_layers"}, problem);
  }
}

void check_deadlines(ParseState& state) {
  const auto& common = state.spec.common;
  if (!state.sound({"launch.timeout", "launch.collective_timeout"}) || common.collective_timeout_ms < common.timeout_ms) return;
  state.refuse_first({"launch.collective_timeout"}, "wanted less than timeout (" + format_duration_ms(common.timeout_ms) +
                                                        "), so that a rank that does not come is named before the run ends; found " +
                                                        format_duration_ms(common.collective_timeout_ms) +
                                                        "; the default is half of timeout");
}

void check_length(ParseState& state) {
  const auto& common = state.spec.common;
  const std::int64_t wanted = common.measure.warmup_steps + common.measure.steady_steps;
  if (!state.sound({"training.train_iters", "measure.warmup", "measure.steady_steps"}) || common.training.train_iters >= wanted) return;
  state.refuse_first({"training.train_iters"}, "wanted at least warmup + steady_steps = " + std::to_string(common.measure.warmup_steps) +
                                                   " + " + std::to_string(common.measure.steady_steps) + "; found " +
                                                   std::to_string(common.training.train_iters));
}

void check_strategy(ParseState& state) {
  const SweepSpec& spec = state.spec;
  if (spec.strategy_kind != "escalate" || !state.sound({"strategy.kind", "budget.per_rank_memory", "measure.blocks"})) return;
  if (!spec.budget_per_rank_bytes)
    state.refuse_first({"budget.per_rank_memory", "strategy.kind"},
                       "strategy.kind escalate looks for the cheapest setting within a budget, and there is none: write budget: "
                       "{per_rank_memory: 80GB}, with the bytes that a rank may reach");
  if (spec.blocks_auto)
    state.refuse_first({"measure.blocks"},
                       "blocks: auto is for strategy.kind one_label and pairs; escalate runs every round in the same number of blocks: "
                       "write that number");
}

}  // namespace

void check_sweep(ParseState& state) {
  check_name(state);
  check_device(state);
  check_modes(state);
  check_optimizer(state);
  check_layout(state);
  check_fields(state);
  check_pipeline(state);
  check_simulate(state);
  check_deadlines(state);
  check_length(state);
  check_strategy(state);
  check_launch(state);
}

}  // namespace rematch::spec
