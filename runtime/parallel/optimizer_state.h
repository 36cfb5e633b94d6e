// What the optimizer holds beside parameters and gradient buffers, by Megatron's byte modes (reports/METRICS.md, "Persistent bytes").
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "runtime/parallel/param_buffer.h"
#include "schemas/protocol/main_weights.h"
#include "schemas/protocol/trial.h"

namespace rematch::parallel {

using protocol::MainWeights;

struct StateLayout {
  MainWeights main_weights = MainWeights::kFp32;
  at::ScalarType exp_avg_dtype = at::kFloat;
  at::ScalarType exp_avg_sq_dtype = at::kFloat;

  // Transformer Engine's kernel takes two fp32 or two bf16 moments; of a mixture it first copies the bf16 one to fp32.
  bool has_mixed_moments() const { return exp_avg_dtype != exp_avg_sq_dtype; }
};

StateLayout state_layout(const protocol::OptimizerSpec& spec);

// One piece of a parameter in the optimizer. Main weights are fp32.
class PieceState {
 public:
  PieceState(const ParamPiece& piece, const StateLayout& layout);

  void make_late_state(const StateLayout& layout);
  // An fp32 copy where this layout wants one, kept until drop_grad_copy.
  void copy_grad(const StateLayout& layout);
  void drop_grad_copy() { grad_copy_.reset(); }

  bool decays() const { return piece_.decays; }
  bool is_split() const { return piece_.is_split; }
  const at::Tensor& param() const { return piece_.param; }
  const at::Tensor& grad() const { return grad_copy_.defined() ? grad_copy_ : piece_.grad; }
  const at::Tensor& exp_avg() const { return exp_avg_; }
  const at::Tensor& exp_avg_sq() const { return exp_avg_sq_; }

  // For use inside nn::kernel: the main weights to step on, and what to do with them afterwards.
  at::Tensor main() const;
  void store_main(const at::Tensor& main) const;
  // What an update reads and writes of all this.
  std::int64_t update_bytes() const;

 private:
  bool is_fp32() const { return piece_.param.scalar_type() == at::kFloat; }

  ParamPiece piece_;
  at::Tensor main_;       // undefined where the parameter or the remainder serves
  at::Tensor remainder_;  // int16
  at::Tensor exp_avg_;
  at::Tensor exp_avg_sq_;
  at::Tensor grad_copy_;
};

}  // namespace rematch::parallel
