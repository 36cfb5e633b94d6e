#include "orchestrator/spec/keys.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "orchestrator/base/device_table.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/units.h"

namespace rematch::spec {

namespace {

constexpr auto kRequired = Need::kRequired;
constexpr auto kOptional = Need::kOptional;
constexpr Range kAtLeastOne{1};
constexpr Range kBelowOne{0, 0.999999};
constexpr Range kSeed{0, 9007199254740991.0};  // what JSON readers keep exactly
constexpr Range kTimeout{1'000, 30.0 * 24 * 3'600'000};
constexpr Range kBytes{1, 1e15};

void follow_tensor_parallel_size(SweepSpec& spec) {
  spec.common.parallel.expert_tensor_parallel_size = spec.common.parallel.tensor_model_parallel_size;
}
void take_half_of_timeout(SweepSpec& spec) { spec.common.collective_timeout_ms = spec.common.timeout_ms / 2; }

#define SLOT(member) [](SweepSpec& spec) -> Slot { return &spec.member; }

const std::vector<KeyRow>& table() {
  static const std::vector<KeyRow> rows = {
      {"schema", Kind::kText, kRequired, SLOT(schema), {}, {kSweepSchema}},
      {"name", Kind::kText, kRequired, SLOT(common.study)},
      {"training.seq_length", Kind::kInteger, kRequired, SLOT(common.training.seq_length), kAtLeastOne},
      {"training.micro_batch_size", Kind::kInteger, kRequired, SLOT(common.training.micro_batch_size), kAtLeastOne},
      {"training.global_batch_size", Kind::kInteger, kRequired, SLOT(common.training.global_batch_size), kAtLeastOne},
      {"training.train_iters", Kind::kInteger, kRequired, SLOT(common.training.train_iters), kAtLeastOne},
      {"training.seed", Kind::kInteger, kOptional, SLOT(common.training.seed), kSeed},
      {"training.bf16", Kind::kBoolean, kOptional, SLOT(common.training.bf16)},
      {"optimizer.use_distributed_optimizer", Kind::kBoolean, kOptional, SLOT(common.optimizer.use_distributed_optimizer)},
      {"optimizer.grad_reduce_in_fp32", Kind::kBoolean, kOptional, SLOT(common.optimizer.grad_reduce_in_fp32)},
      {"optimizer.use_precision_aware_optimizer", Kind::kBoolean, kOptional, SLOT(common.optimizer.use_precision_aware_optimizer)},
      {"optimizer.exp_avg_dtype", Kind::kText, kOptional, SLOT(common.optimizer.exp_avg_dtype), {}, {"fp32", "bf16"}, {"fp16", "fp8"}},
      {"optimizer.exp_avg_sq_dtype",
       Kind::kText,
       kOptional,
       SLOT(common.optimizer.exp_avg_sq_dtype),
       {},
       {"fp32", "bf16"},
       {"fp16", "fp8"}},
      {"optimizer.store_param_remainders", Kind::kBoolean, kOptional, SLOT(common.optimizer.store_param_remainders)},
      {"optimizer.fp8_recipe",
       Kind::kText,
       kOptional,
       SLOT(common.optimizer.fp8_recipe),
       {},
       {"delayed", "tensorwise", "mxfp8", "blockwise", "custom"}},
      {"optimizer.gradient_accumulation_fusion", Kind::kBoolean, kOptional, SLOT(common.optimizer.gradient_accumulation_fusion)},
      {"optimizer.lr", Kind::kNumber, kOptional, SLOT(common.optimizer.lr)},
      {"optimizer.adam_beta1", Kind::kNumber, kOptional, SLOT(common.optimizer.adam_beta1), kBelowOne},
      {"optimizer.adam_beta2", Kind::kNumber, kOptional, SLOT(common.optimizer.adam_beta2), kBelowOne},
      {"optimizer.adam_eps", Kind::kNumber, kOptional, SLOT(common.optimizer.adam_eps)},
      {"optimizer.weight_decay", Kind::kNumber, kOptional, SLOT(common.optimizer.weight_decay)},
      {"optimizer.clip_grad", Kind::kNumber, kOptional, SLOT(common.optimizer.clip_grad)},
      {"parallel.world_size", Kind::kInteger, kRequired, SLOT(common.parallel.world_size), kAtLeastOne},
      {"parallel.tensor_model_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.tensor_model_parallel_size), kAtLeastOne},
      {"parallel.pipeline_model_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.pipeline_model_parallel_size), kAtLeastOne},
      {"parallel.context_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.context_parallel_size), kAtLeastOne},
      {"parallel.expert_model_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.expert_model_parallel_size), kAtLeastOne},
      {"parallel.expert_tensor_parallel_size",
       Kind::kInteger,
       kOptional,
       SLOT(common.parallel.expert_tensor_parallel_size),
       kAtLeastOne,
       {},
       {},
       {},
       {follow_tensor_parallel_size, "tensor_model_parallel_size"}},
      {"parallel.virtual_pipeline_model_parallel_size", Kind::kInteger, kOptional,
       SLOT(common.parallel.virtual_pipeline_model_parallel_size), kAtLeastOne},
      {"parallel.sequence_parallel", Kind::kBoolean, kOptional, SLOT(common.parallel.sequence_parallel)},
      {"parallel.cp_comm_type", Kind::kText, kOptional, SLOT(common.parallel.cp_comm_type), {}, {"p2p", "all_gather"}, {"a2a", "a2a+p2p"}},
      {"parallel.num_layers_in_first_pipeline_stage", Kind::kInteger, kOptional, SLOT(common.parallel.num_layers_in_first_pipeline_stage),
       kAtLeastOne},
      {"parallel.num_layers_in_last_pipeline_stage", Kind::kInteger, kOptional, SLOT(common.parallel.num_layers_in_last_pipeline_stage),
       kAtLeastOne},
      {"parallel.account_for_embedding_in_pipeline_split", Kind::kBoolean, kOptional,
       SLOT(common.parallel.account_for_embedding_in_pipeline_split)},
      {"parallel.account_for_loss_in_pipeline_split", Kind::kBoolean, kOptional, SLOT(common.parallel.account_for_loss_in_pipeline_split)},
      {"backend.device", Kind::kText, kOptional, SLOT(common.backend.device)},
      {"backend.attention", Kind::kText, kOptional, SLOT(common.backend.attention)},
      {"backend.memory_limit", Kind::kSize, kOptional, SLOT(common.backend.memory_limit_bytes), kBytes},
      {"backend.expandable_segments", Kind::kBoolean, kOptional, SLOT(common.backend.expandable_segments)},
      {"features.fp8", Kind::kText, kOptional, SLOT(common.features.fp8), {}, {"e4m3", "hybrid"}},
      {"features.cuda_graph_impl",
       Kind::kText,
       kOptional,
       SLOT(common.features.cuda_graph_impl),
       {},
       {"none", "local", "transformer_engine", "full_iteration"}},
      {"features.moe_shared_expert_overlap", Kind::kBoolean, kOptional, SLOT(common.features.moe_shared_expert_overlap)},
      {"features.cpu_offloading", Kind::kBoolean, kOptional, SLOT(common.features.cpu_offloading)},
      {"features.cross_entropy_gradient", Kind::kText, kOptional, SLOT(common.features.cross_entropy_gradient), {}, {"fp32", "in_place"}},
      {"measure.blocks",
       Kind::kInteger,
       kOptional,
       SLOT(num_blocks),
       {1, 1000},
       {},
       {},
       "auto",
       {},
       [](SweepSpec& spec) { return &spec.blocks_auto; }},
      {"measure.steady_steps", Kind::kInteger, kOptional, SLOT(common.measure.steady_steps), kAtLeastOne},
      {"measure.warmup", Kind::kInteger, kOptional, SLOT(common.measure.warmup_steps), kAtLeastOne, {}, {}, "auto"},
      {"measure.smallest_effect", Kind::kPercent, kOptional, SLOT(smallest_effect), {0.0001, 1}},
      {"measure.order_seed", Kind::kInteger, kOptional, SLOT(order_seed), kSeed},
      {"strategy.kind", Kind::kText, kOptional, SLOT(strategy_kind), {}, {"one_label", "pairs", "escalate"}},
      {"budget.per_rank_memory", Kind::kSize, kOptional, SLOT(budget_per_rank_bytes), kBytes},
      {"simulate.device", Kind::kText, kOptional, SLOT(simulate.device), {}, base::device_names()},
      {"simulate.device_memory", Kind::kSize, kOptional, SLOT(simulate.device_memory_bytes), kBytes},
      {"simulate.outside_allocator", Kind::kSize, kOptional, SLOT(simulate.outside_allocator_bytes), {0, 1e15}},
      {"simulate.workspace", Kind::kSize, kOptional, SLOT(simulate.workspace_bytes), {0, 1e15}},
      {"simulate.graph_pool", Kind::kSize, kOptional, SLOT(simulate.graph_pool_bytes), {0, 1e15}},
      {"simulate.expert_load", Kind::kText, kOptional, SLOT(simulate.expert_load), {}, {"balanced", "forced", "imbalance", "histogram"}},
      {"simulate.expert_imbalance", Kind::kNumber, kOptional, SLOT(simulate.expert_imbalance), {1, 1e5}},
      {"simulate.expert_histogram", Kind::kText, kOptional, SLOT(simulate.expert_histogram)},
      {"simulate.note", Kind::kText, kOptional, SLOT(simulate.note)},
      {"simulate.train_iters", Kind::kInteger, kOptional, SLOT(simulate.train_iters), {2, 1000}},
      {"launch.kind", Kind::kText, kOptional, SLOT(launch_kind), {}, {"local"}, {"slurm"}},
      {"launch.timeout", Kind::kDuration, kOptional, SLOT(common.timeout_ms), kTimeout},
      {"launch.collective_timeout",
       Kind::kDuration,
       kOptional,
       SLOT(common.collective_timeout_ms),
       kTimeout,
       {},
       {},
       {},
       {take_half_of_timeout, "half of timeout"}},
      {"launch.ranks_per_node", Kind::kInteger, kOptional, SLOT(ranks_per_node), kAtLeastOne},
      {"launch.omp_num_threads", Kind::kInteger, kOptional, SLOT(common.omp_num_threads), {1, 4096}},
  };
  return rows;
}

#undef SLOT

using Parsed = std::variant<std::monostate, std::int64_t, double, bool, std::string>;

template <typename T>
Parsed to_parsed(std::optional<T> value) {
  return value ? Parsed(*std::move(value)) : Parsed();
}

Parsed parse(Kind kind, const Value& value) {
  const std::string text = as_text(value).value_or("");
  switch (kind) {
    case Kind::kInteger: return to_parsed(as_integer(value));
    case Kind::kNumber: return to_parsed(as_number(value));
    case Kind::kBoolean: return to_parsed(as_boolean(value));
    case Kind::kText: return to_parsed(as_text(value));
    case Kind::kDuration: return to_parsed(parse_duration_ms(text));
    case Kind::kSize: return to_parsed(parse_size_bytes(text));
    case Kind::kPercent: return to_parsed(parse_percent(text));
  }
  return {};
}

std::string show_number(Kind kind, double number) {
  switch (kind) {
    case Kind::kDuration: return format_duration_ms(static_cast<std::int64_t>(number));
    case Kind::kSize: return format_size_bytes(static_cast<std::int64_t>(number));
    case Kind::kPercent: return format_number(std::round(number * 1e8) / 1e6) + "%";
    case Kind::kInteger: return std::to_string(static_cast<std::int64_t>(number));
    case Kind::kNumber:
    case Kind::kBoolean:
    case Kind::kText: break;
  }
  return format_number(number);
}

bool in_range(const Range& range, double number) { return number >= range.minimum && number <= range.maximum; }

bool acceptable(const KeyRow& row, const Parsed& parsed) {
  if (std::holds_alternative<std::monostate>(parsed)) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&parsed)) return in_range(row.range, static_cast<double>(*integer));
  if (const auto* number = std::get_if<double>(&parsed)) return in_range(row.range, *number);
  const auto* text = std::get_if<std::string>(&parsed);
  return text == nullptr || row.allowed.empty() || std::find(row.allowed.begin(), row.allowed.end(), *text) != row.allowed.end();
}

void assign(const Slot& slot, const Parsed& parsed) {
  std::visit(
      [](auto* target, const auto& value) {
        using Target = std::remove_pointer_t<decltype(target)>;
        using Source = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Target, Source> || std::is_same_v<Target, std::optional<Source>>)
          *target = value;
        else
          throw std::logic_error("a row of the key table has a slot of another type");
      },
      slot, parsed);
}

bool clear(const Slot& slot) {
  return std::visit(
      [](auto* target) {
        if constexpr (requires { target->reset(); }) {
          target->reset();
          return true;
        }
        return false;
      },
      slot);
}

}  // namespace

std::span<const KeyRow> key_rows() { return table(); }

std::string wanted_value(const KeyRow& row) {
  const auto range = [&] {
    return " from " + show_number(row.kind, row.range.minimum) + " to " + show_number(row.kind, row.range.maximum);
  };
  const std::string automatic = row.automatic.empty() ? "" : " or " + row.automatic;
  switch (row.kind) {
    case Kind::kInteger: return "an integer" + range() + automatic;
    case Kind::kNumber: return "a number" + range();
    case Kind::kBoolean: return "true or false";
    case Kind::kText: return row.allowed.empty() ? "a name" : "one of " + join(row.allowed, ", ");
    case Kind::kDuration: return "a number with a unit of time (" + std::string(kDurationUnits) + ")" + range() + ", such as 10min";
    case Kind::kSize: return "a number with a unit of size (" + std::string(kSizeUnits) + ")" + range() + ", such as 2GiB";
    case Kind::kPercent: return "a percentage" + range() + ", such as 2%";
  }
  return "";
}

std::optional<std::string> store_value(const KeyRow& row, const Value& value, SweepSpec& spec) {
  const std::string text = as_text(value).value_or("");
  if (!row.automatic.empty() && text == row.automatic) {
    if (row.is_automatic != nullptr) *row.is_automatic(spec) = true;
    return std::nullopt;
  }
  if (std::find(row.not_yet.begin(), row.not_yet.end(), text) != row.not_yet.end())
    return "'" + text + "' is not available yet; wanted " + wanted_value(row);
  const Slot slot = row.slot(spec);
  if (value.shape == Shape::kNull && clear(slot)) return std::nullopt;
  const Parsed parsed = parse(row.kind, value);
  if (!acceptable(row, parsed)) return "wanted " + wanted_value(row) + "; found " + describe_found(value);
  assign(slot, parsed);
  return std::nullopt;
}

std::string show_value(const KeyRow& row, SweepSpec& spec) {
  if (row.is_automatic != nullptr && *row.is_automatic(spec)) return row.automatic;
  return std::visit(
      [&](const auto* target) -> std::string {
        using Target = std::remove_cv_t<std::remove_pointer_t<decltype(target)>>;
        if constexpr (std::is_same_v<Target, std::string>)
          return *target;
        else if constexpr (std::is_same_v<Target, bool>)
          return *target ? "true" : "false";
        else if constexpr (std::is_same_v<Target, std::optional<std::string>>)
          return target->value_or("null");
        else if constexpr (std::is_same_v<Target, std::optional<std::int64_t>> || std::is_same_v<Target, std::optional<double>>)
          return *target ? show_number(row.kind, static_cast<double>(**target)) : "null";
        else
          return show_number(row.kind, static_cast<double>(*target));
      },
      row.slot(spec));
}

}  // namespace rematch::spec
