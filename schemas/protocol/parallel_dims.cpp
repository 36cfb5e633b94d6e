#include "schemas/protocol/parallel_dims.h"

#include <limits>

#include "schemas/protocol/document_error.h"

namespace rematch::protocol {

namespace {

struct Degree {
  const char* name;
  std::int64_t size;
};

// Divided in turn, since the product of the degrees could overflow.
bool divides_all(std::int64_t world_size, const std::vector<Degree>& degrees) {
  for (const Degree& degree : degrees) {
    if (world_size % degree.size != 0) return false;
    world_size /= degree.size;
  }
  return true;
}

std::string product_text(const std::vector<Degree>& degrees) {
  std::string text;
  for (const Degree& degree : degrees) text += (text.empty() ? "" : " * ") + std::string(degree.name) + " " + std::to_string(degree.size);
  return text;
}

// Ranks that differ from `rank` along one axis only, ascending. Ranks are numbered like digits: an axis' stride is the product of the
// sizes of the axes before it.
std::vector<int> ranks_along(int rank, std::int64_t stride, std::int64_t size) {
  const std::int64_t first = rank - rank / stride % size * stride;
  std::vector<int> ranks;
  for (std::int64_t i = 0; i < size; ++i) ranks.push_back(static_cast<int>(first + i * stride));
  return ranks;
}

}  // namespace

std::vector<std::string> parallel_problems(const ParallelSizes& sizes) {
  const Degree world{"world_size", sizes.world_size};
  const Degree tensor{"tensor_model_parallel_size", sizes.tensor_model_parallel_size};
  const Degree pipeline{"pipeline_model_parallel_size", sizes.pipeline_model_parallel_size};
  const Degree context{"context_parallel_size", sizes.context_parallel_size};
  const Degree expert{"expert_model_parallel_size", sizes.expert_model_parallel_size};
  std::vector<std::string> problems;
  for (const Degree& degree : {world, tensor, pipeline, context, expert}) {
    if (degree.size >= 1 && degree.size <= std::numeric_limits<int>::max()) continue;
    problems.push_back(std::string(degree.name) + ": wanted 1 to " + std::to_string(std::numeric_limits<int>::max()) + ", found " +
                       std::to_string(degree.size));
  }
  if (!problems.empty()) return problems;
  for (const std::vector<Degree>& degrees : {std::vector{tensor, pipeline, context}, std::vector{pipeline, expert}}) {
    if (divides_all(sizes.world_size, degrees)) continue;
    problems.push_back("world_size: wanted a multiple of " + product_text(degrees) + ", found " + std::to_string(sizes.world_size));
  }
  return problems;
}

ParallelDims::ParallelDims(const ParallelSizes& sizes) : sizes_(sizes) {
  std::string problems;
  for (const std::string& problem : parallel_problems(sizes)) problems += (problems.empty() ? "" : "; ") + problem;
  if (!problems.empty()) throw DocumentError("parallel: " + problems);
}

std::int64_t ParallelDims::data_parallel_size() const {
  return sizes_.world_size / (sizes_.tensor_model_parallel_size * sizes_.pipeline_model_parallel_size * sizes_.context_parallel_size);
}

std::int64_t ParallelDims::expert_data_parallel_size() const {
  return sizes_.world_size / (sizes_.pipeline_model_parallel_size * sizes_.expert_model_parallel_size);
}

// Megatron's order tp-cp-ep-dp-pp, innermost first: dense layers see tp, cp, dp, pp; expert layers (no tensor split) see ep, dp, pp.
std::vector<int> ParallelDims::data_parallel_ranks(int rank) const {
  return ranks_along(rank, sizes_.tensor_model_parallel_size * sizes_.context_parallel_size, data_parallel_size());
}

std::vector<int> ParallelDims::expert_parallel_ranks(int rank) const { return ranks_along(rank, 1, sizes_.expert_model_parallel_size); }

std::vector<int> ParallelDims::expert_data_parallel_ranks(int rank) const {
  return ranks_along(rank, sizes_.expert_model_parallel_size, expert_data_parallel_size());
}

}  // namespace rematch::protocol
