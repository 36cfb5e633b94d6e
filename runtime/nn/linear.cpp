#include "runtime/nn/linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/gemm.h"
#include "runtime/nn/main_grad.h"
#include "runtime/nn/save.h"

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

}  // namespace

at::Tensor linear_layer(const at::Tensor& x_TI, const at::Tensor& w_OI) { return LinearFunction::apply(x_TI, w_OI); }

}  // namespace rematch::nn
