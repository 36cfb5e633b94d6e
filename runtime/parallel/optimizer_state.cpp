#include "runtime/parallel/optimizer_state.h"

#include <ATen/ATen.h>

#include "runtime/nn/kernel.h"
#include "runtime/parallel/param_remainder.h"

namespace rematch::parallel {

namespace {

at::ScalarType moment_dtype(const std::string& name) { return name == "bf16" ? at::kBFloat16 : at::kFloat; }

at::Tensor fp32_copy(const at::Tensor& x) {
  auto copy = at::empty(x.sizes(), x.options().dtype(at::kFloat));
  nn::kernel({copy, x}, [&] { copy.copy_(x); });
  return copy;
}

}  // namespace

StateLayout state_layout(const protocol::OptimizerSpec& spec) {
  return {protocol::main_weights(spec), moment_dtype(spec.exp_avg_dtype), moment_dtype(spec.exp_avg_sq_dtype)};
}

PieceState::PieceState(const ParamPiece& piece, const StateLayout& layout) : piece_(piece) {
  if (!is_fp32() && layout.main_weights == MainWeights::kFp32) main_ = fp32_copy(piece.param);
}

void PieceState::make_late_state(const StateLayout& layout) {
  const auto zeros = [this](at::ScalarType dtype) { return at::zeros(param().sizes(), param().options().dtype(dtype)); };
  exp_avg_ = zeros(layout.exp_avg_dtype);
  exp_avg_sq_ = zeros(layout.exp_avg_sq_dtype);
  if (is_fp32()) return;
  if (layout.main_weights == MainWeights::kRemainder) remainder_ = zeros(at::kShort);
  if (layout.main_weights == MainWeights::kFp32Late) main_ = fp32_copy(param());
}

void PieceState::copy_grad(const StateLayout& layout) {
  if (layout.main_weights == MainWeights::kFp32 && piece_.grad.scalar_type() != at::kFloat) grad_copy_ = fp32_copy(piece_.grad);
}

at::Tensor PieceState::main() const {
  if (remainder_.defined()) return join_remainder(param(), remainder_);
  return is_fp32() ? param() : main_;
}

void PieceState::store_main(const at::Tensor& main) const {
  if (remainder_.defined())
    split_remainder(main, param(), remainder_);
  else if (!is_fp32())
    param().copy_(main);
}

std::int64_t PieceState::update_bytes() const {
  const bool reads_param = is_fp32() || remainder_.defined();
  return nn::moved_bytes({grad(), exp_avg_, exp_avg_, exp_avg_sq_, exp_avg_sq_, main_, main_, remainder_, remainder_, param(),
                          reads_param ? param() : at::Tensor()});
}

}  // namespace rematch::parallel
