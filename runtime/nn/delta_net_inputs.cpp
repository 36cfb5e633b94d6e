#include "runtime/nn/delta_net_inputs.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

constexpr double kL2Epsilon = 1e-6;  // flash-linear-attention's

// q and k of [T, C] as one tensor of 2 * key heads in the maths' type
at::Tensor query_key_heads(const at::Tensor& qkv_TC, std::int64_t key_size, std::int64_t num_key_heads) {
  return qkv_TC.narrow(1, 0, 2 * key_size).unflatten(1, {2 * num_key_heads, -1}).to(math_type(qkv_TC));
}

// [T, N, K] of which runs of equal heads follow each other, as [T, key heads, repeats, K]
at::Tensor by_key_head(const at::Tensor& x_TNK, std::int64_t num_key_heads) { return x_TNK.unflatten(1, {num_key_heads, -1}); }

class DeltaHeadsFunction : public torch::autograd::Function<DeltaHeadsFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& qkv_TC,
                                                const GatedDeltaNetShape& shape) {
    const auto num_tokens = qkv_TC.size(0), num_heads = shape.linear_num_value_heads, key_heads = shape.linear_num_key_heads;
    const auto make = [&](std::int64_t width) { return at::empty({num_tokens, num_heads, width}, qkv_TC.options()); };
    auto q_TNK = make(shape.linear_key_head_dim), k_TNK = make(shape.linear_key_head_dim), v_TNV = make(shape.linear_value_head_dim);
    auto rstd_TH1 = at::empty({num_tokens, 2 * key_heads, 1}, qkv_TC.options().dtype(math_type(qkv_TC)));
    kernel({q_TNK, k_TNK, v_TNV, rstd_TH1, qkv_TC}, [&] {
      const auto heads_THK = query_key_heads(qkv_TC, shape.key_size(), key_heads);
      rstd_TH1.copy_(at::rsqrt(heads_THK.square().sum(-1, /*keepdim=*/true) + kL2Epsilon));
      const auto halves = (heads_THK * rstd_TH1).unsqueeze(2).chunk(2, 1);
      by_key_head(q_TNK, key_heads).copy_(halves[0]);
      by_key_head(k_TNK, key_heads).copy_(halves[1]);
      v_TNV.flatten(1).copy_(qkv_TC.narrow(1, 2 * shape.key_size(), shape.value_size()));
    });
    save(ctx, "delta_heads", {{"qkv", qkv_TC}, {"rstd", rstd_TH1}});
    return {q_TNK, k_TNK, v_TNV};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &qkv_TC = saved[0], &rstd_TH1 = saved[1];
    const auto dqkv_TC = at::empty_like(qkv_TC);
    kernel({dqkv_TC, grads[0], grads[1], grads[2], qkv_TC, rstd_TH1}, [&] {
      const auto type = math_type(qkv_TC);
      const auto key_heads = rstd_TH1.size(1) / 2, value_size = grads[2].size(1) * grads[2].size(2);
      const auto key_size = (qkv_TC.size(1) - value_size) / 2;
      const auto summed = [&](const at::Tensor& grad_TNK) { return by_key_head(grad_TNK, key_heads).to(type).sum(2); };
      const auto dnormed_THK = at::cat({summed(grads[0]), summed(grads[1])}, 1);
      const auto normed_THK = query_key_heads(qkv_TC, key_size, key_heads) * rstd_TH1;
      const auto dheads_THK = (dnormed_THK - normed_THK * (dnormed_THK * normed_THK).sum(-1, /*keepdim=*/true)) * rstd_TH1;
      dqkv_TC.narrow(1, 0, 2 * key_size).copy_(dheads_THK.flatten(1));
      dqkv_TC.narrow(1, 2 * key_size, value_size).copy_(grads[2].flatten(1));
    });
    return {dqkv_TC, at::Tensor()};
  }
};

class DeltaGatesFunction : public torch::autograd::Function<DeltaGatesFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& beta_TN,
                                                const at::Tensor& alpha_TN, const at::Tensor& dt_bias_N, const at::Tensor& a_log_N) {
    const auto type = math_type(alpha_TN);
    auto g_TN = at::empty(alpha_TN.sizes(), alpha_TN.options().dtype(type));
    auto gate_TN = at::empty(beta_TN.sizes(), beta_TN.options());
    kernel({g_TN, gate_TN, alpha_TN, beta_TN, dt_bias_N, a_log_N}, [&] {
      g_TN.copy_(at::softplus(alpha_TN.to(type) + dt_bias_N) * -a_log_N.to(type).exp());
      gate_TN.copy_(beta_TN.to(type).sigmoid());
    });
    save(ctx, "delta_gates", {{"alpha", alpha_TN}, {"gate", gate_TN}, {"dt_bias", dt_bias_N}, {"a_log", a_log_N}});
    return {g_TN, gate_TN};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &alpha_TN = saved[0], &gate_TN = saved[1], &dt_bias_N = saved[2], &a_log_N = saved[3];
    const auto dbeta_TN = at::empty_like(gate_TN), dalpha_TN = at::empty(alpha_TN.sizes(), alpha_TN.options());
    const auto ddt_bias_N = at::empty_like(dt_bias_N), da_log_N = at::empty_like(a_log_N);
    kernel({dbeta_TN, dalpha_TN, ddt_bias_N, da_log_N, grads[0], grads[1], alpha_TN, gate_TN, dt_bias_N, a_log_N}, [&] {
      const auto type = math_type(alpha_TN);
      const auto biased_TN = alpha_TN.to(type) + dt_bias_N;
      const auto dsoftplus_TN = grads[0] * -a_log_N.to(type).exp();
      const auto dbiased_TN = dsoftplus_TN * biased_TN.sigmoid();
      const auto open_TN = gate_TN.to(type);
      dalpha_TN.copy_(dbiased_TN);
      ddt_bias_N.copy_(dbiased_TN.sum(0));
      da_log_N.copy_((dsoftplus_TN * at::softplus(biased_TN)).sum(0));
      dbeta_TN.copy_(grads[1] * open_TN * (1 - open_TN));
    });
    return {dbeta_TN, dalpha_TN, ddt_bias_N, da_log_N};
  }
};

}  // namespace

DeltaHeads delta_heads(const at::Tensor& qkv_TC, const GatedDeltaNetShape& shape) {
  const auto heads = DeltaHeadsFunction::apply(qkv_TC, shape);
  return {heads[0], heads[1], heads[2]};
}

DeltaGates delta_gates(const at::Tensor& beta_TN, const at::Tensor& alpha_TN, const DeltaGateWeights& weights) {
  const auto gates = DeltaGatesFunction::apply(beta_TN, alpha_TN, weights.dt_bias_N, weights.a_log_N);
  return {gates[0], gates[1]};
}

}  // namespace rematch::nn
