#include "runtime/nn/core_attention.h"

#include <ATen/core/Tensor.h>

#include <optional>

#include "runtime/nn/fused_attention.h"
#include "runtime/nn/unfused_attention.h"

namespace rematch::nn {

at::Tensor core_attention(const at::Tensor& q_BNSE, const at::Tensor& k_BGSE, const at::Tensor& v_BGSV, const CoreAttention& settings) {
  std::optional<random::StreamScope> stream;
  if (settings.attention_dropout > 0 && settings.streams) stream.emplace(*settings.streams, random::kModelParallelStream);
  switch (settings.backend) {
    case AttentionBackend::kFused:
      return fused_causal_attention(q_BNSE, k_BGSE, v_BGSV, settings.scale, settings.attention_dropout, settings.context);
    case AttentionBackend::kUnfused: return unfused_causal_attention(q_BNSE, k_BGSE, v_BGSV, settings.scale, settings.attention_dropout);
  }
  return at::Tensor();
}

}  // namespace rematch::nn
