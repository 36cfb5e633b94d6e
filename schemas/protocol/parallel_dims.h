// Degrees of parallelism by Megatron's names -> is this layout valid, and which coordinates has a rank.
// Pure; used by the controller at plan time and by the trainer's mesh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rematch::protocol {

struct ParallelSizes {
  std::int64_t world_size = 1;
  std::int64_t tensor_model_parallel_size = 1;
  std::int64_t pipeline_model_parallel_size = 1;
  std::int64_t context_parallel_size = 1;
  std::int64_t expert_model_parallel_size = 1;
};

// Every rule that these sizes break, each with the numbers and the rule; empty when valid.
std::vector<std::string> parallel_problems(const ParallelSizes& sizes);

class ParallelDims {
 public:
  // Throws DocumentError with all of parallel_problems.
  explicit ParallelDims(const ParallelSizes& sizes);

  std::int64_t world_size() const { return sizes_.world_size; }
  std::int64_t data_parallel_size() const;  // world / (tp * pp * cp)
  std::int64_t expert_model_parallel_size() const { return sizes_.expert_model_parallel_size; }
  std::int64_t expert_data_parallel_size() const;  // world / (pp * ep)
  // Global ranks of the group that `rank` belongs to, ascending.
  std::vector<int> data_parallel_ranks(int rank) const;
  std::vector<int> expert_parallel_ranks(int rank) const;
  std::vector<int> expert_data_parallel_ranks(int rank) const;

 private:
  ParallelSizes sizes_;
};

}  // namespace rematch::protocol
