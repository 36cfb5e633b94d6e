// Adam over fp32 main weights, each rank holding its shard (Megatron's distributed optimizer). bf16 parameters and gradient buffers.
// Moments are made inside the first step. The fp32 gradient copies of a step live until the next zero_grads, as Megatron's do.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/parallel/param_buffer.h"
#include "schemas/protocol/trial.h"

namespace rematch::parallel {

class DistributedOptimizer {
 public:
  // Makes the fp32 main weights. The mesh and the buffers outlive this.
  DistributedOptimizer(const protocol::OptimizerSpec& spec, const mesh::Mesh& mesh, std::vector<ParamBuffer*> buffers);

  bool has_moments() const { return has_moments_; }
  void make_moments();

  void zero_grads();
  void sync_grads();
  // fp32 copies of this rank's gradient shards, then their norm over all ranks.
  double grad_norm();  // 0 on meta, where there is none to measure
  // Clips by `grad_norm`, updates main weights, writes them to the bf16 shards and gathers those. Wants moments.
  void step(double grad_norm);

 private:
  struct Shard {
    ParamBuffer* buffer;
    at::Tensor main;  // fp32, flat
    at::Tensor exp_avg;
    at::Tensor exp_avg_sq;
    at::Tensor grad;  // fp32 copy; undefined between zero_grads and grad_norm
  };

  void update(Shard& shard);

  protocol::OptimizerSpec spec_;
  const mesh::Mesh& mesh_;
  std::vector<Shard> shards_;
  std::int64_t num_steps_ = 0;
  bool has_moments_ = false;
};

}  // namespace rematch::parallel
