// Shape suffixes: Q tokens of the chunk, B batch, N heads, K columns of a key head, V of a value head.
#include "runtime/nn/delta_recurrence.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace rematch::nn {

namespace {

// [Q, B, N, X] -> [B, N, Q, X]
at::Tensor chunk_heads(const at::Tensor& x_QBNX) { return x_QBNX.permute({1, 2, 0, 3}).contiguous(); }
at::Tensor chunk_scalars(const at::Tensor& x_QBN) { return x_QBN.permute({1, 2, 0}).contiguous(); }

// The inputs of one chunk, heads first.
struct DeltaChunk {
  explicit DeltaChunk(const std::vector<at::Tensor>& inputs)
      : k_BNQK(chunk_heads(inputs[1])),
        beta_BNQ1(chunk_scalars(inputs[4]).unsqueeze(-1)),
        cumulative_BNQ(cumulative_sum(chunk_scalars(inputs[3]))) {}
  at::Tensor k_BNQK;
  at::Tensor beta_BNQ1;
  at::Tensor cumulative_BNQ;

  // M: what the keys before i of the same chunk change in the delta of i
  at::Tensor interaction() const {
    return (at::matmul(k_BNQK * beta_BNQ1, k_BNQK.transpose(2, 3)) * decay_between(cumulative_BNQ)).tril(-1);
  }
  at::Tensor decay_from_start() const { return cumulative_BNQ.exp().unsqueeze(-1); }
};

// (I + m)^-1 whose value is known: only the gradient passes through.
class KnownInverseFunction : public torch::autograd::Function<KnownInverseFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor&, const at::Tensor& inverse) {
    ctx->save_for_backward({inverse});
    return inverse.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto transposed = ctx->get_saved_variables()[0].transpose(-1, -2);
    return {at::matmul(at::matmul(transposed, grads[0]), transposed).neg_(), at::Tensor()};
  }
};

}  // namespace

void DeltaRecurrence::write_inverses(const std::vector<at::Tensor>& inputs) const {
  const auto type = inputs[3].scalar_type();  // g has the type of the maths
  for_each_chunk(inputs[0].size(0), chunk_size(), [&](ChunkRows rows) {
    std::vector<at::Tensor> rows_of_inputs;
    for (const auto& input : inputs) rows_of_inputs.push_back(rows.of(input).to(type));
    const auto interaction = DeltaChunk(rows_of_inputs).interaction();
    const auto identity = at::eye(rows.count, interaction.options()).expand_as(interaction);
    const auto inverse = at::linalg_solve_triangular(interaction, identity, /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    // A short chunk has fewer columns; the others are never read.
    rows.of(inverse_SBNC_).narrow(3, 0, rows.count).copy_(inverse.permute({2, 0, 1, 3}));
  });
}

at::Tensor DeltaRecurrence::inverse(const ScanChunk& chunk) const {
  const auto known = chunk_heads(chunk.rows.of(inverse_SBNC_).narrow(3, 0, chunk.rows.count)).to(chunk.state.scalar_type());
  return at::GradMode::is_enabled() ? KnownInverseFunction::apply(DeltaChunk(chunk.inputs).interaction(), known) : known;
}

at::Tensor DeltaRecurrence::written(const ScanChunk& chunk) const {
  const DeltaChunk in(chunk.inputs);
  const auto recalled = at::matmul(in.k_BNQK * in.decay_from_start(), chunk.state);
  return at::matmul(inverse(chunk), (chunk_heads(chunk.inputs[2]) - recalled) * in.beta_BNQ1);
}

at::Tensor DeltaRecurrence::next_state(const ScanChunk& chunk, const at::Tensor& written) const {
  const DeltaChunk in(chunk.inputs);
  const auto total_BN1 = in.cumulative_BNQ.slice(-1, -1);
  const auto keys_BNQK = in.k_BNQK * (total_BN1 - in.cumulative_BNQ).exp().unsqueeze(-1);
  return chunk.state * total_BN1.exp().unsqueeze(-1) + at::matmul(keys_BNQK.transpose(2, 3), written);
}

at::Tensor DeltaRecurrence::output(const ScanChunk& chunk, const at::Tensor& written) const {
  const DeltaChunk in(chunk.inputs);
  const auto q_BNQK = chunk_heads(chunk.inputs[0]) * (1.0 / std::sqrt(static_cast<double>(in.k_BNQK.size(3))));
  const auto scores_BNQQ = at::matmul(q_BNQK, in.k_BNQK.transpose(2, 3)) * decay_between(in.cumulative_BNQ);
  const auto o_BNQV = at::matmul(q_BNQK * in.decay_from_start(), chunk.state) + at::matmul(scores_BNQQ, written);
  return o_BNQV.permute({2, 0, 1, 3});
}

}  // namespace rematch::nn
