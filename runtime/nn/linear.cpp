#include "runtime/nn/linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/gemm.h"
#include "runtime/nn/main_grad.h"
#include "runtime/nn/save.h"
#include "runtime/nn/saved_tensor_parallel.h"

namespace rematch::nn {

namespace {

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TI, const at::Tensor& w_OI) {
    save(ctx, "linear", {{"x", x_TI}, {"weight", w_OI}});
    return gemm(x_TI, w_OI.t());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto& dy_TO = grads[0];
    at::Tensor dx_TI;
    if (ctx->needs_input_grad(0)) dx_TI = gemm(dy_TO, saved[1]);
    return {dx_TI, weight_grad(dy_TO, saved[0], saved[1])};
  }
};

class ColumnParallelFunction : public torch::autograd::Function<ColumnParallelFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_LI, const at::Tensor& w_OI,
                            const TensorParallel& tensor_parallel) {
    save(ctx, "linear", {{"x", x_LI}, {"weight", w_OI}});
    save_tensor_parallel(ctx, tensor_parallel);
    return gemm(all_rows(x_LI, tensor_parallel), w_OI.t());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto tensor_parallel = saved_tensor_parallel(ctx);
    const auto& dy_TO = grads[0];
    const auto x_TI = all_rows(saved[0], tensor_parallel);
    at::Tensor dx_LI;
    if (ctx->needs_input_grad(0)) dx_LI = summed(gemm(dy_TO, saved[1]), tensor_parallel);
    return {dx_LI, weight_grad(dy_TO, x_TI, saved[1]), at::Tensor()};
  }
};

class RowParallelFunction : public torch::autograd::Function<RowParallelFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TI, const at::Tensor& w_OI,
                            const TensorParallel& tensor_parallel) {
    save(ctx, "linear", {{"x", x_TI}, {"weight", w_OI}});
    save_tensor_parallel(ctx, tensor_parallel);
    return summed(gemm(x_TI, w_OI.t()), tensor_parallel);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto dy_TO = all_rows(grads[0], saved_tensor_parallel(ctx));
    at::Tensor dx_TI;
    if (ctx->needs_input_grad(0)) dx_TI = gemm(dy_TO, saved[1]);
    return {dx_TI, weight_grad(dy_TO, saved[0], saved[1]), at::Tensor()};
  }
};

}  // namespace

at::Tensor linear_layer(const at::Tensor& x_TI, const at::Tensor& w_OI) { return LinearFunction::apply(x_TI, w_OI); }

at::Tensor column_parallel_linear(const at::Tensor& x_LI, const at::Tensor& w_OI, const TensorParallel& tensor_parallel) {
  return tensor_parallel.is_alone() ? linear_layer(x_LI, w_OI) : ColumnParallelFunction::apply(x_LI, w_OI, tensor_parallel);
}

at::Tensor row_parallel_linear(const at::Tensor& x_TI, const at::Tensor& w_OI, const TensorParallel& tensor_parallel) {
  return tensor_parallel.is_alone() ? linear_layer(x_TI, w_OI) : RowParallelFunction::apply(x_TI, w_OI, tensor_parallel);
}

}  // namespace rematch::nn
