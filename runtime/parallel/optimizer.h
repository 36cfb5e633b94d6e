// Adam over main weights as Megatron holds them: each rank its shard (distributed optimizer), or all of them on every rank.
// Moments, and main weights that Transformer Engine would hold, are made inside the first step. fp32 gradient copies live from grad_norm
// until the next zero_grads, as Megatron's do.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/parallel/optimizer_state.h"
#include "runtime/parallel/param_buffer.h"
#include "schemas/protocol/trial.h"

namespace rematch::parallel {

class Optimizer {
 public:
  // Makes Megatron Core's main weights. The mesh and the buffers outlive this.
  Optimizer(const protocol::OptimizerSpec& spec, const mesh::Mesh& mesh, std::vector<ParamBuffer*> buffers);

  bool has_late_state() const { return has_late_state_; }
  void make_late_state();

  void zero_grads();
  void sync_grads();
  // Makes the fp32 gradient copies, dense first. The norm over all parameters of the job; 0 on meta, where there is none to measure.
  double grad_norm();
  // Clips by `grad_norm`, updates main weights, writes them to this rank's pieces and gathers the parameters. Wants late state.
  void step(double grad_norm);

 private:
  struct BufferState {
    ParamBuffer* buffer;
    std::vector<PieceState> pieces;
  };

  bool counts(const ParamBuffer& buffer, const PieceState& piece) const;
  std::int64_t grad_bytes() const;  // of all pieces
  void clip(double grad_norm);

  protocol::OptimizerSpec spec_;
  StateLayout layout_;
  const mesh::Mesh& mesh_;
  std::vector<BufferState> buffers_;
  std::int64_t num_steps_ = 0;
  bool has_late_state_ = false;
};

}  // namespace rematch::parallel
