#include "runtime/nn/rms_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/rms_math.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

at::Tensor norm_scale(const at::Tensor& weight_H, bool zero_centered, at::ScalarType type) {
  const auto scale_H = weight_H.to(type);
  return zero_centered ? scale_H + 1 : scale_H;
}

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TD, const at::Tensor& weight_H, double epsilon,
                            Gamma gamma) {
    const auto width = weight_H.size(0);
    const auto type = math_type(x_TD);
    const bool zero_centered = gamma == Gamma::kZeroCentered;
    ctx->saved_data["zero_centered"] = zero_centered;
    auto y_TH = at::empty({x_TD.size(0), width}, x_TD.options());
    auto rstd_T1 = at::empty({x_TD.size(0), 1}, x_TD.options().dtype(type));
    kernel(y_TH, [&] {
      const auto x_TH = x_TD.narrow(1, 0, width).to(type);
      rstd_T1.copy_(reciprocal_deviation(x_TH, epsilon));
      y_TH.copy_(x_TH * rstd_T1 * norm_scale(weight_H, zero_centered, type));
    });
    save(ctx, "rms_norm", {{"x", x_TD}, {"weight", weight_H}, {"rstd", rstd_T1}});
    return y_TH;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &x_TD = saved[0], &weight_H = saved[1], &rstd_T1 = saved[2];
    const auto width = weight_H.size(0);
    const auto type = math_type(x_TD);
    auto dx_TD = at::empty_like(x_TD);
    auto dweight_H = at::empty_like(weight_H);
    kernel(dx_TD, [&] {
      const auto normed_TH = x_TD.narrow(1, 0, width).to(type) * rstd_T1;
      const auto dy_TH = grads[0].to(type);
      const auto dnormed_TH = dy_TH * norm_scale(weight_H, ctx->saved_data["zero_centered"].toBool(), type);
      dx_TD.narrow(1, 0, width).copy_(rms_input_grad(dnormed_TH, normed_TH, rstd_T1));
      if (x_TD.size(1) > width) dx_TD.narrow(1, width, x_TD.size(1) - width).zero_();
      dweight_H.copy_((dy_TH * normed_TH).sum(0));
    });
    return {dx_TD, dweight_H, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x_TD, const at::Tensor& weight_H, double epsilon, Gamma gamma) {
  return RmsNormFunction::apply(x_TD, weight_H, epsilon, gamma);
}

}  // namespace rematch::nn
