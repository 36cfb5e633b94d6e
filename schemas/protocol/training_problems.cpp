#include "schemas/protocol/training_problems.h"

#include <optional>

#include "schemas/protocol/factors.h"

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

// The interleaved schedule takes the micro-batches in rounds of one a pipeline rank.
std::vector<Factor> interleaved_batch_factors(const TrainingSpec& training, const ParallelSpec& parallel) {
  auto factors = batch_factors(training, parallel);
  factors.push_back({"pipeline_model_parallel_size", parallel.pipeline_model_parallel_size});
  return factors;
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
  const bool is_interleaved = parallel.virtual_pipeline_model_parallel_size.value_or(1) > 1;
  if (auto message = not_a_multiple(training.global_batch_size, batch_factors(training, parallel)))
    problems.push_back({"global_batch_size", *message});
  else if (is_interleaved)
    if (auto rounds = not_a_multiple(training.global_batch_size, interleaved_batch_factors(training, parallel)))
      problems.push_back({"global_batch_size", *rounds + ": the interleaved schedule (virtual_pipeline_model_parallel_size " +
                                                   std::to_string(*parallel.virtual_pipeline_model_parallel_size) +
                                                   ") wants micro-batches in multiples of the pipeline"});
  if (auto message = not_a_multiple(training.seq_length, sequence_factors(parallel))) {
    std::string why = parallel.sequence_parallel ? "sequence_parallel" : "";
    if (parallel.context_parallel_size > 1) why += (why.empty() ? "" : " and ") + std::string("context parallelism");
    problems.push_back({"seq_length", *message + ": " + why + " shares it out among the ranks"});
  }
  return problems;
}

}  // namespace rematch::protocol
