#include "runtime/nn/gated_rows.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

class GatedRowsFunction : public torch::autograd::Function<GatedRowsFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TH, const at::Tensor& logits_T1) {
    auto y_TH = at::empty_like(x_TH);
    kernel(y_TH, [&] { y_TH.copy_(x_TH.to(math_type(x_TH)) * logits_T1.to(math_type(x_TH)).sigmoid()); });
    save(ctx, "gated_rows", {{"x", x_TH}, {"logits", logits_T1}});
    return y_TH;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    auto dx_TH = at::empty_like(saved[0]);
    auto dlogits_T1 = at::empty_like(saved[1]);
    kernel(dx_TH, [&] {
      const auto type = math_type(saved[0]);
      const auto gate_T1 = saved[1].to(type).sigmoid();
      const auto dy_TH = grads[0].to(type);
      dx_TH.copy_(dy_TH * gate_T1);
      dlogits_T1.copy_((dy_TH * saved[0].to(type)).sum(1, /*keepdim=*/true) * gate_T1 * (1 - gate_T1));
    });
    return {dx_TH, dlogits_T1};
  }
};

}  // namespace

at::Tensor gated_rows(const at::Tensor& x_TH, const at::Tensor& logits_T1) { return GatedRowsFunction::apply(x_TH, logits_T1); }

}  // namespace rematch::nn
