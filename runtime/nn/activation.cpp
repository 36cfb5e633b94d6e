#include "runtime/nn/activation.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/row_kernels.h"
#include "runtime/nn/save.h"
#include "runtime/nn/swiglu_rows.h"

namespace rematch::nn {

namespace {

struct Halves {
  at::Tensor gate_RF;
  at::Tensor up_RF;
};

Halves halves_of(const at::Tensor& h_R2F) {
  const auto width = h_R2F.size(1) / 2;
  return {h_R2F.narrow(1, 0, width), h_R2F.narrow(1, width, width)};
}

at::Tensor swiglu(const at::Tensor& h_R2F) {
  const auto [gate_RF, up_RF] = halves_of(h_R2F);
  return gate_RF.sigmoid().mul_(gate_RF).mul_(up_RF);
}

at::Tensor swiglu_input_grad(const at::Tensor& h_R2F, const at::Tensor& da_RF) {
  const auto [gate_RF, up_RF] = halves_of(h_R2F);
  const auto sigmoid_RF = gate_RF.sigmoid();
  const auto silu_RF = gate_RF * sigmoid_RF;
  return at::cat({da_RF * up_RF * (sigmoid_RF + silu_RF * (1 - sigmoid_RF)), da_RF * silu_RF}, 1);
}

// Both of h and a in the type that is computed in.
at::Tensor activation_of(const at::Tensor& h_RD, Activation activation) {
  switch (activation) {
    case Activation::kSwiglu: return swiglu(h_RD);
    case Activation::kSquaredRelu: return h_RD.clamp_min(0).square_();
  }
  return at::Tensor();
}

at::Tensor input_grad_of(const at::Tensor& h_RD, const at::Tensor& da_RF, Activation activation) {
  switch (activation) {
    case Activation::kSwiglu: return swiglu_input_grad(h_RD, da_RF);
    case Activation::kSquaredRelu: return h_RD.clamp_min(0).mul_(da_RF).mul_(2);
  }
  return at::Tensor();
}

at::Tensor empty_activation(const at::Tensor& h_RD, Activation activation) {
  return at::empty({h_RD.size(0), h_RD.size(1) / fc1_width(activation, 1)}, h_RD.options());
}

Activation activation_used(torch::autograd::AutogradContext* ctx) { return static_cast<Activation>(ctx->saved_data["activation"].toInt()); }

bool is_swiglu_by_rows(const at::Tensor& h_RD, Activation activation) { return activation == Activation::kSwiglu && has_bf16_rows(h_RD); }

// h as the row kernels take it; probs_R undefined: every row has weight 1.
SwigluRows swiglu_rows_of(const at::Tensor& h_R2F, const at::Tensor& probs_R) {
  return {.h = bits_of(h_R2F),
          .probs = probs_R.defined() ? probs_R.const_data_ptr<float>() : nullptr,
          .width = static_cast<std::size_t>(h_R2F.size(1) / 2)};
}

void swiglu_by_rows(const at::Tensor& a_RF, const at::Tensor& h_R2F, const at::Tensor& probs_R) {
  const auto probs = probs_R.defined() ? probs_R.contiguous() : probs_R;
  const auto tensors = swiglu_rows_of(h_R2F, probs);
  for_row_ranges(h_R2F.size(0), [&](std::size_t first, std::size_t last) { swiglu_rows(mutable_bits_of(a_RF), tensors, first, last); });
}

void swiglu_grad_by_rows(const at::Tensor& dh_R2F, const at::Tensor& dprobs_R, const at::Tensor& da_RF, const at::Tensor& h_R2F,
                         const at::Tensor& probs_R) {
  const auto da = da_RF.contiguous(), probs = probs_R.defined() ? probs_R.contiguous() : probs_R;
  const auto tensors = swiglu_rows_of(h_R2F, probs);
  auto* dprobs = dprobs_R.defined() ? dprobs_R.mutable_data_ptr<float>() : nullptr;
  for_row_ranges(h_R2F.size(0), [&](std::size_t first, std::size_t last) {
    swiglu_grad_rows(mutable_bits_of(dh_R2F), dprobs, bits_of(da), tensors, first, last);
  });
}

class ActivateFunction : public torch::autograd::Function<ActivateFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& h_RD, Activation activation) {
    save(ctx, "activation", {{"h", h_RD}});
    ctx->saved_data["activation"] = static_cast<std::int64_t>(activation);
    auto a_RF = empty_activation(h_RD, activation);
    kernel({a_RF, h_RD}, [&] {
      if (is_swiglu_by_rows(h_RD, activation)) return swiglu_by_rows(a_RF, h_RD, at::Tensor());
      a_RF.copy_(activation_of(h_RD.to(math_type(h_RD)), activation));
    });
    return a_RF;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto h_RD = ctx->get_saved_variables()[0];
    auto dh_RD = at::empty_like(h_RD);
    const auto math = math_type(h_RD);
    const auto activation = activation_used(ctx);
    kernel({dh_RD, grads[0], h_RD}, [&] {
      if (is_swiglu_by_rows(h_RD, activation)) return swiglu_grad_by_rows(dh_RD, at::Tensor(), grads[0], h_RD, at::Tensor());
      dh_RD.copy_(input_grad_of(h_RD.to(math), grads[0].to(math), activation));
    });
    return {dh_RD, at::Tensor()};
  }
};

class WeightedActivateFunction : public torch::autograd::Function<WeightedActivateFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& h_RD, const at::Tensor& probs_R,
                            Activation activation) {
    save(ctx, "activation", {{"h", h_RD}, {"probs", probs_R}});
    ctx->saved_data["activation"] = static_cast<std::int64_t>(activation);
    auto a_RF = empty_activation(h_RD, activation);
    kernel({a_RF, h_RD, probs_R}, [&] {
      if (is_swiglu_by_rows(h_RD, activation)) return swiglu_by_rows(a_RF, h_RD, probs_R);
      a_RF.copy_(activation_of(h_RD.to(math_type(h_RD)), activation).mul_(probs_R.unsqueeze(1)));
    });
    return a_RF;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &h_RD = saved[0], &probs_R = saved[1];
    auto dh_RD = at::empty_like(h_RD);
    auto dprobs_R = at::empty_like(probs_R);
    kernel({dh_RD, dprobs_R, grads[0], h_RD, probs_R}, [&] {
      const auto activation = activation_used(ctx);
      if (is_swiglu_by_rows(h_RD, activation)) return swiglu_grad_by_rows(dh_RD, dprobs_R, grads[0], h_RD, probs_R);
      const auto h = h_RD.to(math_type(h_RD)), da_RF = grads[0].to(math_type(h_RD));
      dprobs_R.copy_((activation_of(h, activation) * da_RF).sum(1));
      dh_RD.copy_(input_grad_of(h, da_RF * probs_R.unsqueeze(1), activation));
    });
    return {dh_RD, dprobs_R, at::Tensor()};
  }
};

}  // namespace

std::vector<std::int64_t> fc1_sections(Activation activation, std::int64_t ffn_width) {
  switch (activation) {
    case Activation::kSwiglu: return {ffn_width, ffn_width};
    case Activation::kSquaredRelu: return {ffn_width};
  }
  return {};
}

std::int64_t fc1_width(Activation activation, std::int64_t ffn_width) {
  return static_cast<std::int64_t>(fc1_sections(activation, ffn_width).size()) * ffn_width;
}

at::Tensor activate(const at::Tensor& h_RD, Activation activation) { return ActivateFunction::apply(h_RD, activation); }

at::Tensor weighted_activate(const at::Tensor& h_RD, const at::Tensor& probs_R, Activation activation) {
  return WeightedActivateFunction::apply(h_RD, probs_R, activation);
}

}  // namespace rematch::nn
