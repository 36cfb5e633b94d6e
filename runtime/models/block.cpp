#include "runtime/models/block.h"

#include <ATen/ATen.h>

#include "runtime/nn/dropout.h"
#include "runtime/nn/norm_weight.h"

namespace rematch::models {

OwnNorm::OwnNorm(const std::string& name, const NormShape& norm_shape, const BuildContext& context)
    : shape(norm_shape),
      weight(nn::declare_norm_weight(context.modules.store, {name + ".weight", norm_shape.hidden_size, norm_shape.gamma,
                                                             nn::TensorParallel(context.modules.mesh).grad_of_rows()})),
      region(context.modules.policy.region("layernorm")) {}

at::Tensor Block::forward(const at::Tensor& x_TH, nn::SequenceShape sequence) {
  if (!norm_) return nn::dropout_add(mixer_->forward(x_TH, sequence), x_TH, hidden_dropout_);
  const auto norm = [this](const recompute::Tensors& in) {
    return recompute::Tensors{nn::rms_norm(in[0], norm_->weight->tensor, norm_->shape.epsilon, norm_->shape.gamma)};
  };
  auto normed = norm_->region.run(norm, {x_TH});
  const auto output_TH = mixer_->forward(normed.tensors[0], sequence);
  normed.discard_after(output_TH);
  return nn::dropout_add(output_TH, x_TH, hidden_dropout_);
}

}  // namespace rematch::models
