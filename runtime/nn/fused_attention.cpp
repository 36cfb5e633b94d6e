#include "runtime/nn/fused_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "probes/device/charge.h"
#include "runtime/nn/attention_tiles.h"
#include "runtime/nn/heads.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"
#include "runtime/random/generators.h"

namespace rematch::nn {

namespace {

struct FusedSettings final : torch::CustomClassHolder {
  FusedSettings(double scale, double dropout, const ContextGroup& context_in)
      : context(context_in), maths{scale, dropout, context_in.place()} {}
  ContextGroup context;
  TileMaths maths;

  // In the maths' type, over all visits of keys: a ring's kernels hand it on in device memory, otherwise it is one kernel's scratch.
  at::Tensor sums(at::IntArrayRef sizes, const at::Tensor& like) const {
    std::optional<probes::ScratchScope> scratch;
    if (!context.is_ring()) scratch.emplace();
    return at::empty(sizes, like.options().dtype(math_type(like)));
  }
};

class FusedAttentionFunction : public torch::autograd::Function<FusedAttentionFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& q_BNSE, const at::Tensor& k_BGSE,
                            const at::Tensor& v_BGSV, const c10::intrusive_ptr<FusedSettings>& settings) {
    const auto batch = q_BNSE.size(0), num_heads = q_BNSE.size(1), length = q_BNSE.size(2), width = v_BGSV.size(3);
    auto o_TD = at::empty({length * batch, num_heads * width}, v_BGSV.options());
    auto lse_BNS1 = at::empty({batch, num_heads, length, 1}, v_BGSV.options().dtype(math_type(v_BGSV)));
    if (settings->maths.dropout > 0) ctx->saved_data["random_state"] = random::read_generator(q_BNSE.device());
    {
      const PartialOutput sums{settings->sums({batch, num_heads, length, width}, v_BGSV), lse_BNS1};
      visit_keys(settings->context, {k_BGSE, v_BGSV}, [&](const KeyShare& keys) {
        count_products(attend_flops(q_BNSE, keys, settings->maths.place), {q_BNSE, keys.k_MBGLE, keys.v_MBGLV, o_TD, lse_BNS1});
        uncounted_kernel(o_TD, [&] { attend(q_BNSE, keys, settings->maths, sums); });
      });
      uncounted_kernel(o_TD, [&] { o_TD.view({length, batch, num_heads, width}).copy_(tokens_first(sums.o_BNLV)); });
    }
    save(ctx, "fused_attention", {{"q", q_BNSE}, {"k", k_BGSE}, {"v", v_BGSV}, {"o", o_TD}, {"lse", lse_BNS1}});
    ctx->saved_data["settings"] = c10::IValue::make_capsule(settings);
    return o_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto settings = c10::static_intrusive_pointer_cast<FusedSettings>(ctx->saved_data["settings"].toCapsule());
    const auto saved = ctx->get_saved_variables();
    const auto &q_BNSE = saved[0], &k_BGSE = saved[1], &v_BGSV = saved[2];
    auto dq_BNSE = at::empty_like(q_BNSE);
    auto dk_BGSE = at::empty_like(k_BGSE);
    auto dv_BGSV = at::empty_like(v_BGSV);
    const auto from_output = [&](const at::Tensor& x_TD) {
      return heads_first(x_TD.view({q_BNSE.size(2), q_BNSE.size(0), q_BNSE.size(1), -1}));
    };
    const OutputGrads output{from_output(grads[0]), from_output(saved[3]), saved[4]};
    std::optional<random::GeneratorScope> same_draws;
    if (settings->maths.dropout > 0 && !q_BNSE.is_meta()) same_draws.emplace(q_BNSE.device(), ctx->saved_data["random_state"].toTensor());
    const auto dq_sums = settings->sums(q_BNSE.sizes(), q_BNSE);
    const auto key_sums =
        visit_keys_backward(settings->context, {k_BGSE, v_BGSV}, [&](const KeyShare& keys, const KeyGradShare& key_grads) {
          count_products(attend_backward_flops(q_BNSE, keys, settings->maths.place),
                         {q_BNSE, keys.k_MBGLE, keys.v_MBGLV, grads[0], saved[3], saved[4], dq_BNSE, keys.k_MBGLE, keys.v_MBGLV});
          uncounted_kernel(dq_BNSE, [&] {
            attend_backward(q_BNSE, keys, output, settings->maths, {dq_sums, key_grads.dk_MBGLE, key_grads.dv_MBGLV});
          });
        });
    uncounted_kernel(dq_BNSE, [&] {
      dq_BNSE.copy_(dq_sums);
      dk_BGSE.copy_(key_sums.k_BGLE);
      dv_BGSV.copy_(key_sums.v_BGLV);
    });
    return {dq_BNSE, dk_BGSE, dv_BGSV, at::Tensor()};
  }
};

}  // namespace

at::Tensor fused_causal_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, double scale,
                                  double dropout, const ContextGroup& context) {
  return FusedAttentionFunction::apply(q_BNSE, k_BGSE, v_BGSV, c10::make_intrusive<FusedSettings>(scale, dropout, context));
}

}  // namespace rematch::nn
