#include "runtime/nn/swiglu.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

struct Halves {
  at::Tensor gate_RF;
  at::Tensor up_RF;
};

Halves halves_of(const at::Tensor& h_R2F) {
  const auto h = h_R2F.to(at::kFloat);
  const auto width = h.size(1) / 2;
  return {h.narrow(1, 0, width), h.narrow(1, width, width)};
}

// Gradient of silu(gate) * up for an incoming da, written as [dgate, dup].
void write_input_grad(const at::Tensor& dh_R2F, const Halves& halves, const at::Tensor& da_RF) {
  const auto width = halves.gate_RF.size(1);
  const auto sigmoid_RF = halves.gate_RF.sigmoid();
  const auto silu_RF = halves.gate_RF * sigmoid_RF;
  dh_R2F.narrow(1, 0, width).copy_(da_RF * halves.up_RF * (sigmoid_RF + silu_RF * (1 - sigmoid_RF)));
  dh_R2F.narrow(1, width, width).copy_(da_RF * silu_RF);
}

class SwigluFunction : public torch::autograd::Function<SwigluFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& h_R2F) {
    save(ctx, "swiglu", {{"h", h_R2F}});
    auto a_RF = at::empty({h_R2F.size(0), h_R2F.size(1) / 2}, h_R2F.options());
    kernel(a_RF, [&] {
      const auto [gate_RF, up_RF] = halves_of(h_R2F);
      a_RF.copy_(gate_RF.sigmoid().mul_(gate_RF).mul_(up_RF));
    });
    return a_RF;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto h_R2F = ctx->get_saved_variables()[0];
    auto dh_R2F = at::empty_like(h_R2F);
    kernel(dh_R2F, [&] { write_input_grad(dh_R2F, halves_of(h_R2F), grads[0].to(at::kFloat)); });
    return {dh_R2F};
  }
};

class WeightedSwigluFunction : public torch::autograd::Function<WeightedSwigluFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& h_R2F, const at::Tensor& probs_R) {
    save(ctx, "swiglu", {{"h", h_R2F}, {"probs", probs_R}});
    auto a_RF = at::empty({h_R2F.size(0), h_R2F.size(1) / 2}, h_R2F.options());
    kernel(a_RF, [&] {
      const auto [gate_RF, up_RF] = halves_of(h_R2F);
      a_RF.copy_(gate_RF.sigmoid().mul_(gate_RF).mul_(up_RF).mul_(probs_R.unsqueeze(1)));
    });
    return a_RF;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &h_R2F = saved[0], &probs_R = saved[1];
    auto dh_R2F = at::empty_like(h_R2F);
    auto dprobs_R = at::empty_like(probs_R);
    kernel(dh_R2F, [&] {
      const auto halves = halves_of(h_R2F);
      const auto da_RF = grads[0].to(at::kFloat);
      dprobs_R.copy_((halves.gate_RF.sigmoid().mul_(halves.gate_RF).mul_(halves.up_RF) * da_RF).sum(1));
      write_input_grad(dh_R2F, halves, da_RF * probs_R.unsqueeze(1));
    });
    return {dh_R2F, dprobs_R};
  }
};

}  // namespace

at::Tensor swiglu(const at::Tensor& h_R2F) { return SwigluFunction::apply(h_R2F); }
at::Tensor weighted_swiglu(const at::Tensor& h_R2F, const at::Tensor& probs_R) { return WeightedSwigluFunction::apply(h_R2F, probs_R); }

}  // namespace rematch::nn
