// Family `mla_moe`: layers of multi-latent attention with a dense MLP or a mixture of experts, as Moonlight and DeepSeek have them.
#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/scope.h"
#include "runtime/models/mla_moe_config.h"
#include "runtime/models/model.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mla.h"
#include "runtime/nn/mlp.h"
#include "runtime/nn/moe.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::models {

namespace {

// The input norm is a module of its own in every layer; the norm before the MLP only in an MoE layer (in a dense one it is fused into FC1).
class Layer {
 public:
  Layer(const std::string& name, const MlaMoeConfig& config, bool is_moe, const BuildContext& context)
      : name_(name),
        epsilon_(config.layernorm_epsilon),
        input_norm_(norm_weight(name + ".input_layernorm.weight", config, context)),
        input_norm_region_(context.policy.region("layernorm")),
        attention_(name + ".self_attention", config.attention, context.store, context.policy) {
    if (!is_moe) {
      dense_.emplace(name, config.hidden_size, config.ffn_hidden_size, config.layernorm_epsilon, context.store, context.policy);
      return;
    }
    pre_mlp_norm_ = norm_weight(name + ".pre_mlp_layernorm.weight", config, context);
    pre_mlp_norm_region_.emplace(context.policy.region("layernorm"));
    moe_ = std::make_unique<nn::MoeLayer>(name + ".mlp", config.moe, context.mesh, context.store, context.policy);
  }

  at::Tensor forward(const at::Tensor& x_TH, nn::SequenceShape sequence) {
    const base::ModuleScope scope(name_);
    const auto attended_TH = x_TH + attention(x_TH, sequence);
    return attended_TH + (moe_ ? mixture(attended_TH) : dense_->forward(attended_TH));
  }

  const nn::MoeLayer* moe() const { return moe_.get(); }

 private:
  static nn::Parameter* norm_weight(const std::string& name, const MlaMoeConfig& config, const BuildContext& context) {
    return context.store.declare({.name = name, .shape = {config.hidden_size}, .init = nn::Init::kOnes});
  }

  recompute::RegionOutput normed(const recompute::Region& region, const nn::Parameter* weight, const at::Tensor& x_TH) const {
    const auto norm = [this, weight](const recompute::Tensors& in) {
      return recompute::Tensors{nn::rms_norm(in[0], weight->tensor, epsilon_)};
    };
    return region.run(norm, {x_TH});
  }

  at::Tensor attention(const at::Tensor& x_TH, nn::SequenceShape sequence) const {
    auto norm = normed(input_norm_region_, input_norm_, x_TH);
    auto output_TH = attention_.forward(norm.tensors[0], sequence);
    norm.discard_after(output_TH);
    return output_TH;
  }

  at::Tensor mixture(const at::Tensor& x_TH) const {
    auto norm = normed(*pre_mlp_norm_region_, pre_mlp_norm_, x_TH);
    auto output_TH = moe_->forward(norm.tensors[0]);
    norm.discard_after(output_TH);
    return output_TH;
  }

  std::string name_;
  double epsilon_;
  nn::Parameter* input_norm_;
  recompute::Region input_norm_region_;
  nn::MultiLatentAttention attention_;
  nn::Parameter* pre_mlp_norm_ = nullptr;
  std::optional<recompute::Region> pre_mlp_norm_region_;
  std::optional<nn::DenseMlp> dense_;
  std::unique_ptr<nn::MoeLayer> moe_;
};

class MlaMoeModel final : public Model {
 public:
  MlaMoeModel(const MlaMoeConfig& config, const BuildContext& context)
      : epsilon_(config.layernorm_epsilon), vocab_size_(config.padded_vocab_size), init_method_std_(config.init_method_std) {
    const std::vector<std::int64_t> table = {config.padded_vocab_size, config.hidden_size};
    embedding_ = context.store.declare({.name = "embedding.word_embeddings.weight", .shape = table});
    for (std::size_t i = 0; i < config.layer_is_moe.size(); ++i)
      layers_.push_back(std::make_unique<Layer>("layers." + std::to_string(i), config, config.layer_is_moe[i], context));
    final_norm_ = context.store.declare({.name = "final_layernorm.weight", .shape = {config.hidden_size}, .init = nn::Init::kOnes});
    head_ = context.store.declare({.name = "output_layer.weight", .shape = table});
  }

  at::Tensor loss(const at::Tensor& ids_T, const at::Tensor& labels_T, nn::SequenceShape sequence) override {
    auto x_TH = nn::embed(ids_T, embedding_->tensor);
    for (auto& layer : layers_) x_TH = layer->forward(x_TH, sequence);
    const base::ModuleScope scope("output_layer");
    x_TH = nn::rms_norm(x_TH, final_norm_->tensor, epsilon_);
    const base::RoleScope role(protocol::Role::kLogitsAndLoss);
    // No name for the logits: they go as soon as the loss has made their gradient.
    return nn::cross_entropy(nn::linear_layer(x_TH, head_->tensor), labels_T);
  }

  std::vector<std::int64_t> tokens_received() const override {
    std::vector<std::int64_t> received;
    for (const auto& layer : layers_)
      if (layer->moe()) received.push_back(layer->moe()->tokens_received());
    return received;
  }

  std::int64_t vocab_size() const override { return vocab_size_; }
  double init_method_std() const override { return init_method_std_; }

 private:
  double epsilon_;
  std::int64_t vocab_size_;
  double init_method_std_;
  nn::Parameter* embedding_;
  std::vector<std::unique_ptr<Layer>> layers_;
  nn::Parameter* final_norm_;
  nn::Parameter* head_;
};

class MlaMoeFamily final : public Family {
 public:
  protocol::FamilyDescription describe() const override { return mla_moe_description(); }
  std::unique_ptr<Model> build(const protocol::FieldMap& fields, const BuildContext& context) const override {
    return std::make_unique<MlaMoeModel>(mla_moe_config(fields), context);
  }
  double flops_per_step(const protocol::FieldMap& fields, const protocol::TrainingSpec& training) const override {
    return mla_moe_flops(mla_moe_config(fields), training);
  }
};

}  // namespace

const Family& mla_moe_family() {
  static const MlaMoeFamily family;
  return family;
}

}  // namespace rematch::models
