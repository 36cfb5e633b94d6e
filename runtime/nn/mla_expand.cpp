#include "runtime/nn/mla_expand.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/heads.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/rotary.h"

namespace rematch::nn {

namespace {

struct ExpandShape final : torch::CustomClassHolder {
  ExpandShape(const MlaShape& shape_in, SequenceShape sequence_in) : shape(shape_in), sequence(sequence_in) {}
  MlaShape shape;
  SequenceShape sequence;

  std::int64_t nope() const { return shape.qk_head_dim; }
  std::int64_t rope() const { return shape.qk_pos_emb_head_dim; }
  // [T, N * D] -> view [S, B, N, D]
  at::Tensor by_head(const at::Tensor& x_TD) const { return x_TD.view({sequence.length, sequence.batch, shape.num_attention_heads, -1}); }
  at::Tensor turned(const at::Tensor& x_SBNR, Turn turn) const { return rotate(x_SBNR, shape.rotary_base, turn, sequence.place); }
  at::Tensor make(const at::Tensor& like, std::int64_t width) const {
    return at::empty({sequence.batch, shape.num_attention_heads, sequence.length, width}, like.options());
  }
};

class MlaExpandFunction : public torch::autograd::Function<MlaExpandFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& q_TD, const at::Tensor& kv_TD,
                                                const at::Tensor& latent_TD, const c10::intrusive_ptr<ExpandShape>& expand) {
    ctx->saved_data["expand"] = c10::IValue::make_capsule(expand);
    ctx->saved_data["before_key"] = latent_TD.size(1) - expand->rope();
    const auto& shape = expand->shape;
    const auto nope = expand->nope(), rope = expand->rope();
    auto q = expand->make(q_TD, nope + rope), k = expand->make(q_TD, nope + rope), v = expand->make(q_TD, shape.v_head_dim);
    kernel({q, k, v, q_TD, kv_TD, latent_TD.narrow(1, latent_TD.size(1) - rope, rope)}, [&] {
      const auto q_SBND = expand->by_head(q_TD), kv_SBND = expand->by_head(kv_TD);
      const auto key_SB1R = latent_TD.narrow(1, latent_TD.size(1) - rope, rope).reshape({expand->sequence.length, -1, 1, rope});
      q.narrow(3, 0, nope).copy_(heads_first(q_SBND.narrow(3, 0, nope)));
      q.narrow(3, nope, rope).copy_(heads_first(expand->turned(q_SBND.narrow(3, nope, rope), Turn::kForward)));
      k.narrow(3, 0, nope).copy_(heads_first(kv_SBND.narrow(3, 0, nope)));
      k.narrow(3, nope, rope).copy_(heads_first(expand->turned(key_SB1R, Turn::kForward)));  // one key for all heads
      v.copy_(heads_first(kv_SBND.narrow(3, nope, shape.v_head_dim)));
    });
    return {q, k, v};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto expand = c10::static_intrusive_pointer_cast<ExpandShape>(ctx->saved_data["expand"].toCapsule());
    const auto& shape = expand->shape;
    const auto nope = expand->nope(), rope = expand->rope();
    const auto num_tokens = expand->sequence.num_tokens(), before_key = ctx->saved_data["before_key"].toInt();
    auto dq_TD = at::empty({num_tokens, shape.num_attention_heads * (nope + rope)}, grads[0].options());
    auto dkv_TD = at::empty({num_tokens, shape.num_attention_heads * (nope + shape.v_head_dim)}, grads[0].options());
    auto dlatent_TD = at::empty({num_tokens, before_key + rope}, grads[0].options());
    kernel({dq_TD, dkv_TD, dlatent_TD, grads[0], grads[1], grads[2]}, [&] {
      const auto dq_SBND = expand->by_head(dq_TD), dkv_SBND = expand->by_head(dkv_TD);
      dq_SBND.narrow(3, 0, nope).copy_(tokens_first(grads[0].narrow(3, 0, nope)));
      dq_SBND.narrow(3, nope, rope).copy_(expand->turned(tokens_first(grads[0].narrow(3, nope, rope)), Turn::kBack));
      dkv_SBND.narrow(3, 0, nope).copy_(tokens_first(grads[1].narrow(3, 0, nope)));
      dkv_SBND.narrow(3, nope, shape.v_head_dim).copy_(tokens_first(grads[2]));
      const auto dkey_SB1R = tokens_first(grads[1].narrow(3, nope, rope)).to(math_type(grads[1])).sum(2, /*keepdim=*/true);
      dlatent_TD.narrow(1, 0, before_key).zero_();
      dlatent_TD.narrow(1, before_key, rope).copy_(expand->turned(dkey_SB1R, Turn::kBack).view({num_tokens, rope}));
    });
    return {dq_TD, dkv_TD, dlatent_TD, at::Tensor()};
  }
};

}  // namespace

Qkv mla_expand(const at::Tensor& q_TD, const at::Tensor& kv_TD, const at::Tensor& latent_TD, const MlaShape& shape,
               SequenceShape sequence) {
  auto qkv = MlaExpandFunction::apply(q_TD, kv_TD, latent_TD, c10::make_intrusive<ExpandShape>(shape, sequence));
  return {qkv[0], qkv[1], qkv[2]};
}

}  // namespace rematch::nn
