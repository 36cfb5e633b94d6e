#include "runtime/nn/gated_delta_rule.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "runtime/nn/delta_recurrence.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

std::vector<at::Tensor> delta_by_position(const std::vector<at::Tensor>& tensors, SequenceShape sequence) {
  std::vector<at::Tensor> views;
  for (const auto& tensor : tensors) views.push_back(tensor.unflatten(0, {sequence.length, sequence.batch}));
  return views;
}

at::Tensor delta_initial_state(const at::Tensor& k_TNK, const at::Tensor& v_TNV, std::int64_t batch) {
  return at::zeros({batch, k_TNK.size(1), k_TNK.size(2), v_TNV.size(2)}, k_TNK.options().dtype(math_type(k_TNK)));
}

// The products of DeltaRecurrence, and the triangular solve behind its inverses.
ChunkFlops delta_flops(const at::Tensor& k_TNK, const at::Tensor& v_TNV, std::int64_t batch, std::int64_t count) {
  const auto heads = batch * k_TNK.size(1), key = k_TNK.size(2), value = v_TNV.size(2);
  const auto product = [&](std::int64_t m, std::int64_t k, std::int64_t n) { return 2 * heads * m * k * n; };
  const auto interaction = product(count, key, count), solve = heads * count * count * count;
  return {.written = product(count, key, value) + product(count, count, value),
          .next_state = product(key, count, value),
          .output = interaction + product(count, key, value) + product(count, count, value),
          .forward_only = interaction + solve,
          .backward_only = 3 * interaction + 2 * product(count, count, count)};
}

class GatedDeltaRuleFunction : public torch::autograd::Function<GatedDeltaRuleFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& q_TNK, const at::Tensor& k_TNK,
                            const at::Tensor& v_TNV, const at::Tensor& g_TN, const at::Tensor& beta_TN, SequenceShape sequence) {
    ctx->saved_data["length"] = sequence.length;
    ctx->saved_data["batch"] = sequence.batch;
    auto o_TD = at::empty({v_TNV.size(0), v_TNV.size(1) * v_TNV.size(2)}, v_TNV.options());
    auto inverse_TNC = at::empty({q_TNK.size(0), q_TNK.size(1), kDeltaRuleChunk}, q_TNK.options());
    const auto flops_of = [&](std::int64_t count) { return delta_flops(k_TNK, v_TNV, sequence.batch, count); };
    count_products(scan_flops(sequence.length, kDeltaRuleChunk, flops_of), {o_TD, inverse_TNC, q_TNK, k_TNK, v_TNV, g_TN, beta_TN});
    uncounted_kernel(o_TD, [&] {
      const auto views = delta_by_position({q_TNK, k_TNK, v_TNV, g_TN, beta_TN, inverse_TNC, o_TD.view_as(v_TNV)}, sequence);
      const std::vector<at::Tensor> inputs(views.begin(), views.begin() + 5);
      const DeltaRecurrence recurrence(kDeltaRuleChunk, views[5]);
      recurrence.write_inverses(inputs);
      scan_into(views[6], recurrence, inputs, delta_initial_state(k_TNK, v_TNV, sequence.batch));
    });
    save(ctx, "gated_delta_rule", {{"q", q_TNK}, {"k", k_TNK}, {"v", v_TNV}, {"g", g_TN}, {"beta", beta_TN}, {"inverse", inverse_TNC}});
    return o_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const SequenceShape sequence{ctx->saved_data["length"].toInt(), ctx->saved_data["batch"].toInt()};
    const auto &k_TNK = saved[1], &v_TNV = saved[2];
    std::vector<at::Tensor> input_grads;
    for (std::size_t i = 0; i < 5; ++i) input_grads.push_back(at::empty_like(saved[i]));
    const auto flops_of = [&](std::int64_t count) { return delta_flops(k_TNK, v_TNV, sequence.batch, count); };
    count_products(scan_grads_flops(sequence.length, kDeltaRuleChunk, flops_of),
                   {input_grads[0], input_grads[1], input_grads[2], input_grads[3], input_grads[4], grads[0], saved[0], saved[1], saved[2],
                    saved[3], saved[4], saved[5]});
    uncounted_kernel(input_grads[0], [&] {
      const auto views = delta_by_position(saved, sequence);
      const std::vector<at::Tensor> inputs(views.begin(), views.begin() + 5);
      const auto do_SBNV = delta_by_position({grads[0].reshape(v_TNV.sizes())}, sequence)[0];
      scan_grads_into({do_SBNV, delta_by_position(input_grads, sequence)}, DeltaRecurrence(kDeltaRuleChunk, views[5]), inputs,
                      delta_initial_state(k_TNK, v_TNV, sequence.batch));
    });
    input_grads.emplace_back();  // the sequence's shape
    return input_grads;
  }
};

}  // namespace

at::Tensor gated_delta_rule(const DeltaRuleInputs& inputs, SequenceShape sequence) {
  return GatedDeltaRuleFunction::apply(inputs.q_TNK, inputs.k_TNK, inputs.v_TNV, inputs.g_TN, inputs.beta_TN, sequence);
}

}  // namespace rematch::nn
