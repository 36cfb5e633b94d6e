#include "schemas/protocol/training_problems.h"

#include <optional>

#include "schemas/protocol/factors.h"
#include "schemas/protocol/pipeline_layers.h"

namespace rematch::protocol {

namespace {

// null when `value` is a multiple of the product.
std::optional<std::string> not_a_multiple(std::int64_t value, const std::vector<Factor>& factors) {
  if (divides_all(value, factors)) return std::nullopt;
  return "wanted a multiple of " + product_text(factors) + ", found " + std::to_string(value);
}

std::vector<Factor> batch_factors(const TrainingSpec& training, const ParallelSpec& parallel) {
  const std::int64_t data_parallel_size = ParallelDims(parallel).data_parallel_size();
  return {{"micro_batch_size", training.micro_batch_size}, {"data_parallel_size", data_parallel_size}};
}

std::vector<Factor> sequence_factors(const ParallelSpec& parallel) {
  std::vector<Factor> factors;
  if (parallel.sequence_parallel) factors.push_back({"tensor_model_parallel_size", parallel.tensor_model_parallel_size});
  // A context-parallel rank takes one chunk from the front of the sequence and one from its end.
  if (parallel.context_parallel_size > 1) {
    factors.push_back({"chunks of a rank", 2});
    factors.push_back({"context_parallel_size", parallel.context_parallel_size});
  }
  return factors;
}

}  // namespace

std::vector<TrainingProblem> training_problems(const TrainingSpec& training, const ParallelSpec& parallel) {
  std::vector<TrainingProblem> problems;
  const auto factors = batch_factors(training, parallel);
  if (auto message = not_a_multiple(training.global_batch_size, factors))
    problems.push_back({"global_batch_size", *message});
  else
    for (const std::string& rule : schedule_problems(training.global_batch_size / factors[0].size / factors[1].size, parallel))
      problems.push_back({"global_batch_size", rule});
  if (auto message = not_a_multiple(training.seq_length, sequence_factors(parallel))) {
    std::string why = parallel.sequence_parallel ? "sequence_parallel" : "";
    if (parallel.context_parallel_size > 1) why += (why.empty() ? "" : " and ") + std::string("context parallelism");
    problems.push_back({"seq_length", *message + ": " + why + " shares it out among the ranks"});
  }
  return problems;
}

}  // namespace rematch::protocol
