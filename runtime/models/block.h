// A mixer in its place on the residual stream: x + dropout(mixer(x)), where the mixer norms its own input (the norm is fused into its first
// linear layer), or x + dropout(mixer(norm(x))), where the norm is a module of its own and a unit of `layernorm`.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/models/model.h"
#include "runtime/nn/moe.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::models {

// Attention, MLP, MoE, Mamba, ...: [T, H] -> [T, H].
class Mixer {
 public:
  virtual ~Mixer() = default;
  virtual at::Tensor forward(const at::Tensor& x_TH, nn::SequenceShape sequence) = 0;
  virtual nn::MoeLayer* moe() { return nullptr; }
};

template <typename Module>
class MixerOf final : public Mixer {
 public:
  template <typename... Arguments>
  explicit MixerOf(Arguments&&... arguments) : module_(std::forward<Arguments>(arguments)...) {}
  at::Tensor forward(const at::Tensor& x_TH, nn::SequenceShape sequence) override {
    if constexpr (requires { module_.forward(x_TH, sequence); })
      return module_.forward(x_TH, sequence);
    else
      return module_.forward(x_TH);
  }
  nn::MoeLayer* moe() override {
    if constexpr (std::is_same_v<Module, nn::MoeLayer>) return &module_;
    return nullptr;
  }

 private:
  Module module_;
};

struct NormShape {
  std::int64_t hidden_size = 0;
  double epsilon = 1e-5;
  nn::Gamma gamma = nn::Gamma::kPlain;
};

class Block {
 public:
  Block(std::unique_ptr<Mixer> mixer, double hidden_dropout) : mixer_(std::move(mixer)), hidden_dropout_(hidden_dropout) {}
  // With a norm of its own, its parameter called `norm_name`.weight.
  Block(std::unique_ptr<Mixer> mixer, double hidden_dropout, const std::string& norm_name, const NormShape& norm,
        const BuildContext& context);

  at::Tensor forward(const at::Tensor& x_TH, nn::SequenceShape sequence);
  nn::MoeLayer* moe() { return mixer_->moe(); }

 private:
  std::unique_ptr<Mixer> mixer_;
  double hidden_dropout_;
  NormShape norm_;
  nn::Parameter* norm_weight_ = nullptr;
  std::optional<recompute::Region> norm_region_;
};

}  // namespace rematch::models
