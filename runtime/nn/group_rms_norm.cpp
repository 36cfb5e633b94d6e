#include "runtime/nn/group_rms_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/rms_math.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

at::Tensor make_group_rstd(const at::Tensor& x_TD, std::int64_t num_groups) {
  return at::empty({x_TD.size(0), num_groups, 1}, x_TD.options().dtype(math_type(x_TD)));
}

// [T, D] -> [T, G, D / G] in the maths' type
at::Tensor by_group(const at::Tensor& x_TD, std::int64_t num_groups) { return x_TD.unflatten(1, {num_groups, -1}).to(math_type(x_TD)); }

class GroupRmsNormFunction : public torch::autograd::Function<GroupRmsNormFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TD, const at::Tensor& weight_D,
                            std::int64_t num_groups, double epsilon) {
    auto y_TD = at::empty(x_TD.sizes(), x_TD.options());
    auto rstd_TG1 = make_group_rstd(x_TD, num_groups);
    kernel({y_TD, rstd_TG1, x_TD, weight_D}, [&] {
      const auto x_TGW = by_group(x_TD, num_groups);
      rstd_TG1.copy_(reciprocal_deviation(x_TGW, epsilon));
      y_TD.copy_((x_TGW * rstd_TG1).flatten(1) * weight_D);
    });
    save(ctx, "group_rms_norm", {{"x", x_TD}, {"weight", weight_D}, {"rstd", rstd_TG1}});
    return y_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &x_TD = saved[0], &weight_D = saved[1], &rstd_TG1 = saved[2];
    const auto num_groups = rstd_TG1.size(1);
    auto dx_TD = at::empty_like(x_TD);
    auto dweight_D = at::empty_like(weight_D);
    kernel({dx_TD, dweight_D, grads[0], x_TD, weight_D, rstd_TG1}, [&] {
      const auto normed_TGW = by_group(x_TD, num_groups) * rstd_TG1;
      const auto dy_TGW = by_group(grads[0], num_groups);
      const auto dnormed_TGW = dy_TGW * weight_D.unflatten(0, {num_groups, -1});
      dx_TD.copy_(rms_input_grad(dnormed_TGW, normed_TGW, rstd_TG1).flatten(1));
      dweight_D.copy_((dy_TGW * normed_TGW).sum(0).flatten());
    });
    return {dx_TD, dweight_D, at::Tensor(), at::Tensor()};
  }
};

class GatedRmsNormFunction : public torch::autograd::Function<GatedRmsNormFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& o_TD, const at::Tensor& z_TD,
                            const at::Tensor& weight_W, double epsilon, Gamma gamma) {
    const auto num_heads = o_TD.size(1) / weight_W.size(0);
    auto y_TD = at::empty(o_TD.sizes(), o_TD.options());
    auto rstd_TN1 = make_group_rstd(o_TD, num_heads);
    kernel({y_TD, rstd_TN1, o_TD, z_TD, weight_W}, [&] {
      const auto o_TNW = by_group(o_TD, num_heads), z_TNW = by_group(z_TD, num_heads);
      rstd_TN1.copy_(reciprocal_deviation(o_TNW, epsilon));
      y_TD.copy_((o_TNW * rstd_TN1 * norm_scale(weight_W, gamma, math_type(o_TD)) * at::silu(z_TNW)).flatten(1));
    });
    save(ctx, "gated_rms_norm", {{"o", o_TD}, {"z", z_TD}, {"weight", weight_W}, {"rstd", rstd_TN1}});
    ctx->saved_data["gamma"] = static_cast<std::int64_t>(gamma);
    return y_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &o_TD = saved[0], &z_TD = saved[1], &weight_W = saved[2], &rstd_TN1 = saved[3];
    const auto num_heads = rstd_TN1.size(1);
    auto do_TD = at::empty(o_TD.sizes(), o_TD.options());
    auto dz_TD = at::empty(z_TD.sizes(), z_TD.options());
    auto dweight_W = at::empty_like(weight_W);
    kernel({do_TD, dz_TD, dweight_W, grads[0], o_TD, z_TD, weight_W, rstd_TN1}, [&] {
      const auto normed_TNW = by_group(o_TD, num_heads) * rstd_TN1;
      const auto z_TNW = by_group(z_TD, num_heads), dy_TNW = by_group(grads[0], num_heads);
      const auto scale_W = norm_scale(weight_W, static_cast<Gamma>(ctx->saved_data["gamma"].toInt()), math_type(o_TD));
      const auto dscaled_TNW = dy_TNW * at::silu(z_TNW);
      do_TD.copy_(rms_input_grad(dscaled_TNW * scale_W, normed_TNW, rstd_TN1).flatten(1));
      dz_TD.copy_(at::silu_backward(dy_TNW * normed_TNW * scale_W, z_TNW).flatten(1));
      dweight_W.copy_((dscaled_TNW * normed_TNW).flatten(0, 1).sum(0));
    });
    return {do_TD, dz_TD, dweight_W, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor group_rms_norm(const at::Tensor& x_TD, const at::Tensor& weight_D, std::int64_t num_groups, double epsilon) {
  return GroupRmsNormFunction::apply(x_TD, weight_D, num_groups, epsilon);
}

at::Tensor gated_rms_norm(const at::Tensor& o_TD, const at::Tensor& z_TD, const at::Tensor& weight_W, double epsilon, Gamma gamma) {
  return GatedRmsNormFunction::apply(o_TD, z_TD, weight_W, epsilon, gamma);
}

}  // namespace rematch::nn
