#include "runtime/nn/causal_conv.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

// x behind as many rows of zeros as the first token looks back over; tap k of token t then reads row t + k * batch.
at::Tensor padded_before(const at::Tensor& x_TC, const CausalConv& conv) {
  return at::constant_pad_nd(x_TC.to(math_type(x_TC)), {0, 0, (conv.weight_CK.size(1) - 1) * conv.batch, 0});
}

at::Tensor taps_first(const CausalConv& conv, at::ScalarType type) { return conv.weight_CK.to(type).t().contiguous(); }

at::Tensor convolved(const at::Tensor& padded_PC, const CausalConv& conv) {
  const auto weight_KC = taps_first(conv, padded_PC.scalar_type());
  const auto num_taps = weight_KC.size(0), num_tokens = padded_PC.size(0) - (num_taps - 1) * conv.batch;
  auto sum_TC = padded_PC.narrow(0, 0, num_tokens) * weight_KC[0];
  for (std::int64_t tap = 1; tap < num_taps; ++tap) sum_TC.addcmul_(padded_PC.narrow(0, tap * conv.batch, num_tokens), weight_KC[tap]);
  return conv.bias_C ? sum_TC.add_(*conv.bias_C) : sum_TC;
}

class CausalConvFunction : public torch::autograd::Function<CausalConvFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TC, const at::Tensor& weight_CK,
                            const std::optional<at::Tensor>& bias_C, std::int64_t batch) {
    auto y_TC = at::empty(x_TC.sizes(), x_TC.options());
    kernel({y_TC, x_TC, weight_CK}, [&] { y_TC.copy_(causal_conv_silu_values(x_TC, {weight_CK, bias_C, batch})); });
    save(ctx, "causal_conv", {{"x", x_TC}, {"weight", weight_CK}, {"bias", bias_C.value_or(at::Tensor())}});
    ctx->saved_data["batch"] = batch;
    return y_TC;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto bias_C = saved[2].defined() ? std::optional(saved[2]) : std::nullopt;
    const CausalConv conv{saved[1], bias_C, ctx->saved_data["batch"].toInt()};
    const auto& x_TC = saved[0];
    const auto dx_TC = at::empty(x_TC.sizes(), x_TC.options());
    const auto dweight_CK = at::empty_like(conv.weight_CK);
    const auto dbias_C = bias_C ? at::empty_like(*bias_C) : at::Tensor();
    kernel({dx_TC, dweight_CK, dbias_C, grads[0], x_TC, conv.weight_CK}, [&] {
      const auto computed = causal_conv_silu_grads(grads[0], x_TC, conv);
      dx_TC.copy_(computed.x_TC);
      dweight_CK.copy_(computed.weight_CK);
      if (dbias_C.defined()) dbias_C.copy_(computed.bias_C);
    });
    return {dx_TC, dweight_CK, dbias_C, at::Tensor()};
  }
};

}  // namespace

at::Tensor causal_conv_silu(const at::Tensor& x_TC, const CausalConv& conv) {
  return CausalConvFunction::apply(x_TC, conv.weight_CK, conv.bias_C, conv.batch);
}

at::Tensor causal_conv_silu_values(const at::Tensor& x_TC, const CausalConv& conv) {
  auto y_TC = convolved(padded_before(x_TC, conv), conv);
  return at::silu_(y_TC);
}

CausalConvGrads causal_conv_silu_grads(const at::Tensor& dy_TC, const at::Tensor& x_TC, const CausalConv& conv) {
  const auto padded_PC = padded_before(x_TC, conv);
  const auto dsum_TC = at::silu_backward(dy_TC.to(padded_PC.scalar_type()), convolved(padded_PC, conv));
  const auto weight_KC = taps_first(conv, padded_PC.scalar_type());
  const auto num_taps = weight_KC.size(0), num_tokens = x_TC.size(0);
  const auto dpadded_PC = at::zeros_like(padded_PC);
  std::vector<at::Tensor> dweight;
  for (std::int64_t tap = 0; tap < num_taps; ++tap) {
    dpadded_PC.narrow(0, tap * conv.batch, num_tokens).addcmul_(dsum_TC, weight_KC[tap]);
    dweight.push_back((dsum_TC * padded_PC.narrow(0, tap * conv.batch, num_tokens)).sum(0));
  }
  return {dpadded_PC.narrow(0, (num_taps - 1) * conv.batch, num_tokens), at::stack(dweight, 1),
          conv.bias_C ? dsum_TC.sum(0) : at::Tensor()};
}

}  // namespace rematch::nn
