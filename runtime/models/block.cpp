#include "runtime/models/block.h"

#include <ATen/ATen.h>

#include "runtime/nn/dropout.h"
#include "runtime/nn/norm_weight.h"

namespace rematch::models {

Block::Block(std::unique_ptr<Mixer> mixer, double hidden_dropout, const std::string& norm_name, const NormShape& norm,
             const BuildContext& context)
    : mixer_(std::move(mixer)),
      hidden_dropout_(hidden_dropout),
      norm_(norm),
      norm_weight_(nn::declare_norm_weight(context.store, norm_name + ".weight", norm.hidden_size, norm.gamma)),
      norm_region_(context.policy.region("layernorm")) {}

at::Tensor Block::forward(const at::Tensor& x_TH, nn::SequenceShape sequence) {
  if (!norm_region_) return nn::dropout_add(mixer_->forward(x_TH, sequence), x_TH, hidden_dropout_);
  const auto normed = [this](const recompute::Tensors& in) {
    return recompute::Tensors{nn::rms_norm(in[0], norm_weight_->tensor, norm_.epsilon, norm_.gamma)};
  };
  auto norm = norm_region_->run(normed, {x_TH});
  const auto output_TH = mixer_->forward(norm.tensors[0], sequence);
  norm.discard_after(output_TH);
  return nn::dropout_add(output_TH, x_TH, hidden_dropout_);
}

}  // namespace rematch::models
