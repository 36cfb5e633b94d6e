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

// A norm that is a module of its own. Made before its mixer, so that parameters are declared in the order in which they are used.
struct OwnNorm {
  // Its parameter is called `name`.weight.
  OwnNorm(const std::string& name, const NormShape& norm_shape, const BuildContext& context);
  NormShape shape;
  nn::Parameter* weight;
  recompute::Region region;
};

class Block {
 public:
  Block(std::unique_ptr<Mixer> mixer, double hidden_dropout) : mixer_(std::move(mixer)), hidden_dropout_(hidden_dropout) {}
  Block(OwnNorm norm, std::unique_ptr<Mixer> mixer, double hidden_dropout)
      : norm_(std::move(norm)), mixer_(std::move(mixer)), hidden_dropout_(hidden_dropout) {}

  at::Tensor forward(const at::Tensor& x_TH, nn::SequenceShape sequence);
  nn::MoeLayer* moe() { return mixer_->moe(); }

 private:
  std::optional<OwnNorm> norm_;
  std::unique_ptr<Mixer> mixer_;
  double hidden_dropout_;
};

}  // namespace rematch::models
