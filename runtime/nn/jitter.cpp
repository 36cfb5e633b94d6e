#include "runtime/nn/jitter.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

class JitterFunction : public torch::autograd::Function<JitterFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TH, double epsilon) {
    auto factors_TH = at::empty_like(x_TH);
    auto y_TH = at::empty_like(x_TH);
    kernel({y_TH, factors_TH, x_TH}, [&] {
      factors_TH.uniform_(1 - epsilon, 1 + epsilon);
      y_TH.copy_(x_TH * factors_TH);
    });
    save(ctx, "jitter", {{"factors", factors_TH}});
    return y_TH;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    auto dx_TH = at::empty_like(grads[0]);
    kernel({dx_TH, grads[0], grads[0]}, [&] { dx_TH.copy_(grads[0] * ctx->get_saved_variables()[0]); });
    return {dx_TH, at::Tensor()};
  }
};

}  // namespace

at::Tensor jittered(const at::Tensor& x_TH, double epsilon) { return JitterFunction::apply(x_TH, epsilon); }

}  // namespace rematch::nn
