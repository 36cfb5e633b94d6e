#include "runtime/nn/mamba_scan.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "runtime/nn/causal_conv.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/mamba_recurrence.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

using Tensors = std::vector<at::Tensor>;

// What forward and backward work on: in the maths' type, but for the weights and for raw_xbc_TW, a view of the input.
struct Mamba2Operands {
  Mamba2Weights weights;
  at::Tensor z_TD;
  at::Tensor raw_xbc_TW;
  at::Tensor raw_dt_TN;  // with its bias, before softplus
  at::Tensor a_N;        // the decay's rate, negative
  at::Tensor skip_N;
  Tensors scan_inputs;  // as Mamba2Recurrence wants them
};

struct Mamba2Call final : torch::CustomClassHolder {
  Mamba2Call(const Mamba2Shape& shape_in, SequenceShape sequence_in) : shape(shape_in), sequence(sequence_in) {}
  Mamba2Shape shape;
  SequenceShape sequence;

  at::Tensor by_position(const at::Tensor& x_TD) const { return x_TD.unflatten(0, {sequence.length, sequence.batch}); }
  CausalConv conv(const Mamba2Weights& weights) const { return {weights.conv_weight_WK, weights.conv_bias_W, sequence.batch}; }
  Tensors parts(const at::Tensor& zxbcdt_TP) const {
    return zxbcdt_TP.split_with_sizes({shape.inner_size(), shape.conv_size(), shape.mamba_num_heads}, 1);
  }
  // x, B, C of the convolution's columns, sequence-first
  Tensors conv_parts(const at::Tensor& xbc_TW) const {
    return by_position(xbc_TW).split_with_sizes({shape.inner_size(), shape.group_states(), shape.group_states()}, 2);
  }

  Mamba2Operands operands(const at::Tensor& zxbcdt_TP, const Mamba2Weights& weights) const {
    const auto type = math_type(zxbcdt_TP);
    const auto columns = parts(zxbcdt_TP);
    const auto raw_dt_TN = columns[2].to(type) + weights.dt_bias_N;
    const auto a_N = -weights.a_log_N.to(type).exp();
    auto inputs = conv_parts(causal_conv_silu_values(columns[1], conv(weights)));
    const auto dt_SBN = by_position(at::softplus(raw_dt_TN));
    inputs.insert(inputs.end(), {dt_SBN, dt_SBN * a_N});
    return {weights, columns[0].to(type), columns[1], raw_dt_TN, a_N, weights.skip_N.to(type), std::move(inputs)};
  }
};

// Gradients of the scan's inputs; those of x, B and C side by side, as the convolution made them.
struct Mamba2ScanGrads {
  at::Tensor xbc_TW;
  at::Tensor dt_TN;
  at::Tensor log_decay_TN;
};

Mamba2ScanGrads scan_grads(const Mamba2Call& call, const Mamba2Operands& operands, const at::Tensor& dungated_TD) {
  const Mamba2ScanGrads grads{at::empty(operands.raw_xbc_TW.sizes(), dungated_TD.options()), at::empty_like(operands.raw_dt_TN),
                              at::empty_like(operands.raw_dt_TN)};
  auto inputs = call.conv_parts(grads.xbc_TW);
  inputs.insert(inputs.end(), {call.by_position(grads.dt_TN), call.by_position(grads.log_decay_TN)});
  const Mamba2Recurrence recurrence(call.shape, operands.skip_N);
  scan_grads_into({call.by_position(dungated_TD), inputs}, recurrence, operands.scan_inputs, recurrence.initial_state(call.sequence.batch));
  return grads;
}

Mamba2Weights empty_like_weights(const Mamba2Weights& weights) {
  return {at::empty_like(weights.conv_weight_WK), at::empty_like(weights.conv_bias_W), at::empty_like(weights.dt_bias_N),
          at::empty_like(weights.a_log_N), at::empty_like(weights.skip_N)};
}

struct Mamba2Grads {
  at::Tensor zxbcdt_TP;
  Mamba2Weights weights;
};

// Fills all of `grads` but the columns of z.
void write_scan_grads(const Mamba2Grads& grads, const Mamba2Call& call, const Mamba2Operands& operands, const at::Tensor& dungated_TD) {
  const auto dcolumns = call.parts(grads.zxbcdt_TP);
  const auto dscan = scan_grads(call, operands, dungated_TD);
  const auto dconv = causal_conv_silu_grads(dscan.xbc_TW, operands.raw_xbc_TW, call.conv(operands.weights));
  dcolumns[1].copy_(dconv.x_TC);
  grads.weights.conv_weight_WK.copy_(dconv.weight_CK);
  grads.weights.conv_bias_W.copy_(dconv.bias_C);

  const auto draw_dt_TN = (dscan.dt_TN + dscan.log_decay_TN * operands.a_N) * operands.raw_dt_TN.sigmoid();
  dcolumns[2].copy_(draw_dt_TN);
  grads.weights.dt_bias_N.copy_(draw_dt_TN.sum(0));
  grads.weights.a_log_N.copy_((call.by_position(dscan.log_decay_TN) * operands.scan_inputs[4]).flatten(0, 1).sum(0));
  const auto through_skip_SBD = call.by_position(dungated_TD) * operands.scan_inputs[0];
  grads.weights.skip_N.copy_(through_skip_SBD.unflatten(2, {operands.skip_N.size(0), -1}).sum(at::IntArrayRef{0, 1, 3}));
}

// The products of Mamba2Recurrence.
ChunkFlops mamba_flops(const Mamba2Shape& shape, std::int64_t batch, std::int64_t count) {
  const auto inner = batch * shape.inner_size(), state = shape.mamba_state_dim;
  const auto with_state = 2 * inner * count * state;
  return {.next_state = with_state, .output = 2 * batch * shape.group_states() * count * count + 2 * inner * count * count + with_state};
}

class Mamba2ScanFunction : public torch::autograd::Function<Mamba2ScanFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const c10::intrusive_ptr<Mamba2Call>& call, const at::Tensor& zxbcdt_TP,
                            const at::Tensor& conv_weight_WK, const at::Tensor& conv_bias_W, const at::Tensor& dt_bias_N,
                            const at::Tensor& a_log_N, const at::Tensor& skip_N) {
    ctx->saved_data["call"] = c10::IValue::make_capsule(call);
    auto ungated_TD = at::empty({zxbcdt_TP.size(0), call->shape.inner_size()}, zxbcdt_TP.options());
    auto y_TD = at::empty(ungated_TD.sizes(), ungated_TD.options());
    const auto flops_of = [&](std::int64_t count) { return mamba_flops(call->shape, call->sequence.batch, count); };
    count_products(scan_flops(call->sequence.length, call->shape.chunk_size, flops_of),
                   {y_TD, ungated_TD, zxbcdt_TP, conv_weight_WK, conv_bias_W, dt_bias_N, a_log_N, skip_N});
    uncounted_kernel(y_TD, [&] {
      const auto operands = call->operands(zxbcdt_TP, {conv_weight_WK, conv_bias_W, dt_bias_N, a_log_N, skip_N});
      const Mamba2Recurrence recurrence(call->shape, operands.skip_N);
      scan_into(call->by_position(ungated_TD), recurrence, operands.scan_inputs, recurrence.initial_state(call->sequence.batch));
      y_TD.copy_(ungated_TD * at::silu(operands.z_TD));
    });
    save(ctx, "mamba2_scan",
         {{"zxbcdt", zxbcdt_TP},
          {"ungated", ungated_TD},
          {"conv_weight", conv_weight_WK},
          {"conv_bias", conv_bias_W},
          {"dt_bias", dt_bias_N},
          {"a_log", a_log_N},
          {"skip", skip_N}});
    return y_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto call = c10::static_intrusive_pointer_cast<Mamba2Call>(ctx->saved_data["call"].toCapsule());
    const auto saved = ctx->get_saved_variables();
    const auto& zxbcdt_TP = saved[0];
    const auto& ungated_TD = saved[1];
    const Mamba2Weights weights{saved[2], saved[3], saved[4], saved[5], saved[6]};
    const Mamba2Grads made{at::empty_like(zxbcdt_TP), empty_like_weights(weights)};
    const auto flops_of = [&](std::int64_t count) { return mamba_flops(call->shape, call->sequence.batch, count); };
    count_products(scan_grads_flops(call->sequence.length, call->shape.chunk_size, flops_of),
                   {made.zxbcdt_TP, zxbcdt_TP, ungated_TD, grads[0], weights.conv_weight_WK, made.weights.conv_weight_WK});
    uncounted_kernel(made.zxbcdt_TP, [&] {
      const auto operands = call->operands(zxbcdt_TP, weights);
      const auto dy_TD = grads[0].to(math_type(zxbcdt_TP));
      call->parts(made.zxbcdt_TP)[0].copy_(at::silu_backward(dy_TD * ungated_TD, operands.z_TD));
      write_scan_grads(made, *call, operands, dy_TD * at::silu(operands.z_TD));
    });
    return {at::Tensor(),           made.zxbcdt_TP,       made.weights.conv_weight_WK, made.weights.conv_bias_W,
            made.weights.dt_bias_N, made.weights.a_log_N, made.weights.skip_N};
  }
};

}  // namespace

at::Tensor mamba2_scan(const at::Tensor& zxbcdt_TP, const Mamba2Weights& weights, const Mamba2Shape& shape, SequenceShape sequence) {
  return Mamba2ScanFunction::apply(c10::make_intrusive<Mamba2Call>(shape, sequence), zxbcdt_TP, weights.conv_weight_WK, weights.conv_bias_W,
                                   weights.dt_bias_N, weights.a_log_N, weights.skip_N);
}

}  // namespace rematch::nn
