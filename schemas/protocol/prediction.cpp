#include "schemas/protocol/prediction.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "schemas/protocol/assumed_rows.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/find_field.h"
#include "schemas/protocol/trial.h"

namespace rematch::protocol {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw DocumentError("trial.prediction.expert_load" + what); }

std::vector<double> imbalanced_shares(double imbalance, std::int64_t num_experts, std::int64_t expert_parallel_size) {
  if (!(imbalance >= 1 && imbalance <= static_cast<double>(expert_parallel_size)))
    refuse(".imbalance: wanted 1 to expert_model_parallel_size (" + std::to_string(expert_parallel_size) + "), found " +
           std::to_string(imbalance));
  const auto num_local = num_experts / expert_parallel_size;
  const double mean = 1.0 / static_cast<double>(expert_parallel_size);
  const double first = imbalance * mean;
  const double others = expert_parallel_size > 1 ? (1 - first) / static_cast<double>(expert_parallel_size - 1) : 0;
  std::vector<double> shares;
  for (std::int64_t expert = 0; expert < num_experts; ++expert)
    shares.push_back((expert < num_local ? first : others) / static_cast<double>(num_local));
  return shares;
}

// The sum of a histogram that fits the experts.
std::int64_t tokens_of(const std::vector<std::int64_t>& histogram, std::int64_t num_experts) {
  const auto size = static_cast<std::int64_t>(histogram.size());
  if (size != num_experts)
    refuse(".histogram: wanted one number of tokens for each of the " + std::to_string(num_experts) + " experts, found " +
           std::to_string(size));
  std::int64_t total = 0;
  for (std::int64_t expert = 0; expert < size; ++expert) {
    const auto count = histogram[static_cast<std::size_t>(expert)];
    const auto place = ".histogram[" + std::to_string(expert) + "]: ";
    if (count < 0) refuse(place + "wanted 0 or more tokens, found " + std::to_string(count));
    if (count > std::numeric_limits<std::int64_t>::max() - total)
      refuse(place + "wanted a sum of all experts below 2^63, found " + std::to_string(count) + " beside " + std::to_string(total));
    total += count;
  }
  if (total == 0) refuse(".histogram: wanted tokens for one expert at least, found 0 for all " + std::to_string(size));
  return total;
}

std::vector<double> histogram_shares(const std::vector<std::int64_t>& histogram, std::int64_t num_experts) {
  const auto total = tokens_of(histogram, num_experts);
  std::vector<double> shares;
  for (const auto count : histogram) shares.push_back(static_cast<double>(count) / static_cast<double>(total));
  return shares;
}

// Each kind has its own field and no other.
void check_fields(const ExpertLoad& load) {
  const auto check = [&](const std::string& name, bool is_given) {
    if (is_given == (load.kind == name)) return;
    refuse("." + name + ": wanted " + (is_given ? "null" : "a value") + " with kind " + load.kind + ", found " +
           (is_given ? "one" : "null"));
  };
  check("imbalance", load.imbalance.has_value());
  check("histogram", load.histogram.has_value());
}

std::int64_t integer_field(const Trial& trial, const std::string& name) {
  const auto* value = find_field<std::int64_t>(trial.model.fields, name);
  return value ? *value : 0;
}

// Experts that each token of a rank's share of a micro-batch is routed to, all tokens together. With experts a tensor-parallel rank routes
// its own rows of the sequence.
std::int64_t num_routing_choices(const Trial& trial) {
  const auto num_tokens = trial.training.micro_batch_size * trial.training.seq_length;
  const auto num_shards = trial.parallel.context_parallel_size * trial.parallel.tensor_model_parallel_size;
  return num_tokens / num_shards * integer_field(trial, "moe_router_topk");
}

// Of one rank's routing choices, those for the experts of each expert-parallel rank; empty without experts.
std::vector<std::int64_t> rows_of_expert_ranks(const Trial& trial) {
  check_fields(trial.prediction->expert_load);
  const auto num_experts = integer_field(trial, "num_moe_experts");
  if (num_experts == 0) return {};
  const auto size = trial.parallel.expert_model_parallel_size;
  const auto shares = expert_shares(trial.prediction->expert_load, num_experts, size);
  const auto rows = assumed_rows(num_routing_choices(trial), num_experts, shares);
  std::vector<std::int64_t> sums;
  for (auto first = rows.begin(); first + num_experts / size <= rows.end(); first += num_experts / size)
    sums.push_back(std::accumulate(first, first + num_experts / size, std::int64_t{0}));
  return sums;
}

}  // namespace

std::vector<double> expert_shares(const ExpertLoad& load, std::int64_t num_experts, std::int64_t expert_parallel_size) {
  check_fields(load);
  if (load.imbalance) return imbalanced_shares(*load.imbalance, num_experts, expert_parallel_size);
  if (load.histogram) return histogram_shares(*load.histogram, num_experts);
  return std::vector<double>(static_cast<std::size_t>(num_experts), 1.0 / static_cast<double>(num_experts));
}

std::vector<RankClass> rank_classes(const Trial& trial) {
  const ParallelDims dims(trial.parallel);
  const auto rows = trial.prediction ? rows_of_expert_ranks(trial) : std::vector<std::int64_t>{};
  std::vector<RankClass> classes;
  std::map<std::tuple<int, std::int64_t>, std::size_t> known;
  for (std::int64_t rank = 0; rank < dims.world_size(); ++rank) {
    const auto position = [&](Axis axis) { return dims.position(axis, static_cast<int>(rank)); };
    const auto own_rows = rows.empty() ? 0 : rows[static_cast<std::size_t>(position(Axis::kExpert))];
    const auto key = std::tuple(position(Axis::kPipeline), own_rows);
    const auto [place, is_new] = known.try_emplace(key, classes.size());
    if (is_new || !trial.prediction) {
      classes.push_back({rank, {rank}});
      continue;
    }
    classes[place->second].ranks.push_back(rank);
  }
  return classes;
}

std::vector<std::int64_t> started_ranks(const Trial& trial) {
  std::vector<std::int64_t> ranks;
  for (const auto& alike : rank_classes(trial)) ranks.push_back(alike.rank);
  return ranks;
}

}  // namespace rematch::protocol
