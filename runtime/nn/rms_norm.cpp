#include "runtime/nn/rms_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "runtime/nn/kernel.h"
#include "runtime/nn/rms_math.h"
#include "runtime/nn/rms_rows.h"
#include "runtime/nn/row_kernels.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

RmsRows rms_rows(const at::Tensor& x_TD, const at::Tensor& scale_H) {
  return {.first = 0,
          .last = 0,
          .width = static_cast<std::size_t>(scale_H.size(0)),
          .x_stride = static_cast<std::size_t>(x_TD.size(1)),
          .scale = scale_H.const_data_ptr<float>()};
}

// bf16 rows on the CPU; scale_H in fp32.
void norm_by_rows(const at::Tensor& y_TH, const at::Tensor& rstd_T1, const at::Tensor& x_TD, const at::Tensor& scale_H, double epsilon) {
  const RmsForward tensors{bits_of(x_TD), mutable_bits_of(y_TH), rstd_T1.mutable_data_ptr<float>(), static_cast<float>(epsilon)};
  for_row_ranges(x_TD.size(0), [&, all = rms_rows(x_TD, scale_H)](std::size_t first, std::size_t last) {
    auto rows = all;
    rows.first = first;
    rows.last = last;
    rms_norm_rows(tensors, rows);
  });
}

// The same backward; returns the gradient of the scale, in fp32.
at::Tensor grad_by_rows(const at::Tensor& dx_TD, const at::Tensor& dy_TH, const at::Tensor& x_TD, const at::Tensor& rstd_T1,
                        const at::Tensor& scale_H) {
  const auto dy = dy_TH.contiguous();
  const auto num_rows = x_TD.size(0), num_parts = (num_rows + kRowsPerPart - 1) / kRowsPerPart;
  const auto dscale_PH = at::zeros({num_parts, scale_H.size(0)}, scale_H.options());
  at::parallel_for(0, num_parts, 1, [&](std::int64_t first_part, std::int64_t last_part) {
    for (auto part = first_part; part < last_part; ++part) {
      auto rows = rms_rows(x_TD, scale_H);
      rows.first = static_cast<std::size_t>(part * kRowsPerPart);
      rows.last = static_cast<std::size_t>(std::min(num_rows, (part + 1) * kRowsPerPart));
      auto* dscale = dscale_PH.mutable_data_ptr<float>() + part * scale_H.size(0);
      rms_norm_grad_rows({bits_of(x_TD), bits_of(dy), rstd_T1.const_data_ptr<float>(), mutable_bits_of(dx_TD), dscale}, rows);
    }
  });
  return dscale_PH.sum(0);
}

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TD, const at::Tensor& weight_H, double epsilon,
                            Gamma gamma) {
    const auto width = weight_H.size(0);
    const auto type = math_type(x_TD);
    ctx->saved_data["gamma"] = static_cast<std::int64_t>(gamma);
    auto y_TH = at::empty({x_TD.size(0), width}, x_TD.options());
    auto rstd_T1 = at::empty({x_TD.size(0), 1}, x_TD.options().dtype(type));
    kernel({y_TH, rstd_T1, x_TD, weight_H}, [&] {
      const auto scale_H = norm_scale(weight_H, gamma, type);
      if (has_bf16_rows(x_TD)) return norm_by_rows(y_TH, rstd_T1, x_TD, scale_H, epsilon);
      const auto x_TH = x_TD.narrow(1, 0, width).to(type);
      rstd_T1.copy_(reciprocal_deviation(x_TH, epsilon));
      y_TH.copy_(x_TH * rstd_T1 * scale_H);
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
    kernel({dx_TD, dweight_H, grads[0], x_TD, weight_H, rstd_T1}, [&] {
      const auto scale_H = norm_scale(weight_H, static_cast<Gamma>(ctx->saved_data["gamma"].toInt()), type);
      if (has_bf16_rows(x_TD)) {
        dweight_H.copy_(grad_by_rows(dx_TD, grads[0], x_TD, rstd_T1, scale_H));
        return;
      }
      const auto normed_TH = x_TD.narrow(1, 0, width).to(type) * rstd_T1;
      const auto dy_TH = grads[0].to(type);
      dx_TD.narrow(1, 0, width).copy_(rms_input_grad(dy_TH * scale_H, normed_TH, rstd_T1));
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
