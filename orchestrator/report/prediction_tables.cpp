#include "orchestrator/report/prediction_tables.h"

#include <string>

#include "orchestrator/report/cells.h"
#include "schemas/protocol/main_weights.h"

namespace rematch::report {

namespace {

using protocol::PredictionSpec;
using protocol::Trial;

struct Assumption {
  std::string name;
  Cell value;
  std::string origin;
};

std::string yes_or_no(bool flag) { return flag ? "true" : "false"; }

std::string load_text(const protocol::ExpertLoad& load) {
  std::string text = load.kind;
  if (load.imbalance) {
    std::string number = std::to_string(*load.imbalance);
    number.erase(number.find_last_not_of('0') + 1);
    text += " of " + number + (number.ends_with('.') ? "0" : "");
  }
  if (load.histogram) text += " of " + std::to_string(load.histogram->size()) + " experts";
  return text;
}

std::string main_weights_text(protocol::MainWeights main_weights) {
  switch (main_weights) {
    case protocol::MainWeights::kFp32: return "fp32 main weights of Megatron Core";
    case protocol::MainWeights::kFp32Late: return "fp32 main weights of Transformer Engine";
    case protocol::MainWeights::kRemainder: return "16-bit remainders";
  }
  return "";
}

// The row of reports/METRICS.md, "Persistent bytes", that these options choose.
std::string optimizer_text(const protocol::OptimizerSpec& optimizer) {
  if (!optimizer.use_precision_aware_optimizer)
    return std::string("fp32 main weights and moments, ") + (optimizer.use_distributed_optimizer ? "in shards" : "not sharded");
  return "precision-aware: " + main_weights_text(protocol::main_weights(optimizer)) + ", moments " + optimizer.exp_avg_dtype + " and " +
         optimizer.exp_avg_sq_dtype + (optimizer.use_distributed_optimizer ? ", in shards" : ", not sharded");
}

std::vector<Assumption> assumptions_of(const Trial& trial) {
  const PredictionSpec& prediction = *trial.prediction;
  std::vector<Assumption> rows;
  const auto add = [&](const std::string& name, Cell value, const std::string& key) {
    const auto origin = prediction.origins.find(key);
    rows.push_back({name, std::move(value), origin == prediction.origins.end() ? "" : origin->second});
  };
  add("device", prediction.device, "device");
  add("device memory", Bytes{prediction.device_memory_bytes}, "device_memory");
  add("outside the allocator", Bytes{prediction.outside_allocator_bytes}, "outside_allocator");
  add("capacity of the allocator", cell_of<Bytes>(trial.backend.memory_limit_bytes), "capacity");
  add("workspaces", Bytes{prediction.workspace_bytes}, "workspace");
  add("graph pools", Bytes{prediction.graph_pool_bytes}, "graph_pool");
  const std::string& graphs = trial.features.cuda_graph_impl;
  add("CUDA graphs", graphs == "none" ? "none captured" : graphs, "features.cuda_graph_impl");
  add("expert load", load_text(prediction.expert_load), "expert_load");
  add("cross-entropy gradient", trial.features.cross_entropy_gradient, "features.cross_entropy_gradient");
  add("optimizer bytes", optimizer_text(trial.optimizer), "optimizer.use_precision_aware_optimizer");
  add("gradient type", std::string(trial.optimizer.grad_reduce_in_fp32 ? "fp32" : "the parameter's"), "optimizer.grad_reduce_in_fp32");
  add("attention", trial.backend.attention, "backend.attention");
  add("gradient accumulation fusion", yes_or_no(trial.optimizer.gradient_accumulation_fusion), "optimizer.gradient_accumulation_fusion");
  add("shared-expert overlap", yes_or_no(trial.features.moe_shared_expert_overlap), "features.moe_shared_expert_overlap");
  const auto num_classes = static_cast<std::int64_t>(protocol::rank_classes(trial).size());
  rows.push_back({"ranks alike", std::to_string(num_classes) + " of " + std::to_string(trial.parallel.world_size) + " ranks stand for all",
                  "one pipeline stage and one number of tokens for the experts"});
  return rows;
}

Table assumptions_table(const Trial& trial) {
  const std::vector<ColumnOf<Assumption>> columns = {
      {{"assumption", "assumption"}, [](const Assumption& a) { return text_cell(a.name); }},
      {{"value", "value"}, [](const Assumption& a) { return a.value; }},
      {{"origin", "origin"}, [](const Assumption& a) { return text_cell(a.origin); }},
  };
  return table_of("assumptions", "Assumptions of the prediction", columns, assumptions_of(trial));
}

// "0-3, 8": runs of ranks that follow each other.
std::string ranges_text(const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[first]) + (last > first ? "-" + std::to_string(ranks[last]) : "");
    first = last + 1;
  }
  return text;
}

Table classes_table(const Trial& trial) {
  using protocol::RankClass;
  const protocol::ParallelDims dims(trial.parallel);
  const std::vector<ColumnOf<RankClass>> columns = {
      {{"rank", "rank"}, [](const RankClass& c) { return Cell{Count{c.rank}}; }},
      {{"pipeline_rank", "pipeline rank"},
       [=](const RankClass& c) { return Cell{Count{dims.position(protocol::Axis::kPipeline, static_cast<int>(c.rank))}}; }},
      {{"num_ranks", "ranks in class"}, [](const RankClass& c) { return Cell{Count{static_cast<std::int64_t>(c.ranks.size())}}; }},
      {{"ranks", "which"}, [](const RankClass& c) { return text_cell(ranges_text(c.ranks)); }},
  };
  return table_of("rank_classes", "Ranks that were run, and those that they stand for", columns, protocol::rank_classes(trial));
}

}  // namespace

std::vector<Table> prediction_tables(const base::StudyPlan& plan) {
  if (plan.trials.empty() || !plan.trials.front().prediction) return {};
  return {assumptions_table(plan.trials.front()), classes_table(plan.trials.front())};
}

}  // namespace rematch::report
