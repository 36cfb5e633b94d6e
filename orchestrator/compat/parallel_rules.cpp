// Tensor, sequence and context parallelism, and what kinds of attention want of them.
#include <algorithm>

#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

bool divides(std::int64_t divisor, std::int64_t count) { return divisor != 0 && count % divisor == 0; }

bool is_split_wrong(const Subject& s) {
  const std::int64_t num_ranks = s.c.tensor_model_parallel_size;
  const std::int64_t num_groups = s.c.num_query_groups.value_or(s.c.num_attention_heads);
  return num_ranks != 0 && !divides(num_ranks, num_groups) && !divides(num_groups, num_ranks);
}

bool lacks_gdn_fields(const Subject& s) {
  const bool has_sizes = s.c.linear_conv_kernel_dim && s.c.linear_key_head_dim && s.c.linear_value_head_dim && s.c.linear_num_key_heads &&
                         s.c.linear_num_value_heads;
  const LayerPattern& freq = s.c.linear_attention_freq;
  return !has_sizes || (!freq.every && !freq.of_layer) || !divides(*s.c.linear_num_key_heads, *s.c.linear_num_value_heads);
}

bool is_gdn_split_wrong(const Subject& s) {
  if (s.is_0161() && s.c.context_parallel_size != 1) return true;
  const std::int64_t num_ranks = s.c.tensor_model_parallel_size * (s.is_0161() ? 1 : std::max<std::int64_t>(1, s.c.context_parallel_size));
  return !divides(num_ranks, s.c.linear_num_key_heads.value_or(0)) || !divides(num_ranks, s.c.linear_num_value_heads.value_or(0));
}

std::string without_separators(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter; });
  return text;
}

bool gathers_all(const NameList& types) {
  return types.is_set && std::all_of(types.names.begin(), types.names.end(),
                                     [](const std::string& type) { return without_separators(type) == "allgather"; });
}

bool is_dsa(const Subject& s) { return s.c.experimental_attention_variant == "dsa"; }

bool replays_context_traffic(const Subject& s, const char* label) {
  return s.c.context_parallel_size > 1 && selects(s, label) && (s.setting == nullptr || num_sites_of(s, label) > 0);
}

std::string replayed_context_traffic(const Subject& s) {
  std::string text = "context_parallel_size " + std::to_string(s.c.context_parallel_size);
  if (replays_context_traffic(s, "core_attn")) text += "; core_attn: keys and values go round again";
  if (replays_context_traffic(s, "gdn_norm_out")) text += "; gdn_norm_out: the all-to-all from heads to tokens";
  return text;
}

std::string heads(const Subject& s) {
  return "num_attention_heads " + std::to_string(s.c.num_attention_heads) + ", tensor_model_parallel_size " +
         std::to_string(s.c.tensor_model_parallel_size);
}

}  // namespace

Rules parallel_rules() {
  return {
      {"X1", "", Origin::kOurs, Effect::kWarn, "context_parallel_size, recompute_granularity, recompute_modules",
       [](const Subject& s) { return replays_context_traffic(s, "core_attn") || replays_context_traffic(s, "gdn_norm_out"); },
       "under context parallelism the replay of this label repeats communication: `show` gives the bytes", kAllRevisions,
       replayed_context_traffic},
      {"sp_needs_tp", "", kClass, Effect::kRefuse, "sequence_parallel, tensor_model_parallel_size",
       [](const Subject& s) { return s.c.sequence_parallel && s.c.tensor_model_parallel_size <= 1; },
       "sequence_parallel wants tensor_model_parallel_size > 1", kAllRevisions},
      {"parallel_size", "", kClass, Effect::kRefuse, "tensor_model_parallel_size, pipeline_model_parallel_size",
       [](const Subject& s) { return s.c.tensor_model_parallel_size == 0 || s.c.pipeline_model_parallel_size <= 0; },
       "parallel sizes are 1 or more", kAllRevisions},
      {"heads_needed", "", kClass, Effect::kRefuse, "num_attention_heads, kv_channels",
       [](const Subject& s) { return s.c.num_attention_heads == 0 && !s.c.kv_channels; },
       "num_attention_heads is needed to share hidden_size out", kAllRevisions},
      {"heads_tp", "", kClass, Effect::kRefuse, "num_attention_heads, tensor_model_parallel_size",
       [](const Subject& s) {
         return s.c.tensor_model_parallel_size != 0 && !divides(s.c.tensor_model_parallel_size, s.c.num_attention_heads);
       },
       "num_attention_heads is a multiple of tensor_model_parallel_size", kAllRevisions, heads},
      {"query_groups_tp", "", kClass, Effect::kRefuse, "num_query_groups, num_attention_heads, tensor_model_parallel_size", is_split_wrong,
       "num_query_groups is a multiple or a divisor of tensor_model_parallel_size", kAllRevisions},
      {"gdn_params", "", kClass, Effect::kRefuse,
       "experimental_attention_variant, linear_attention_freq, linear_conv_kernel_dim, linear_key_head_dim, linear_value_head_dim, "
       "linear_num_key_heads, linear_num_value_heads",
       [](const Subject& s) { return is_gated_delta_net(s) && lacks_gdn_fields(s); },
       "a gated delta net wants linear_attention_freq, every linear_* size, and value heads that are a multiple of key heads",
       kAllRevisions},
      {"gdn_tp_cp", "", kClass, Effect::kRefuse,
       "experimental_attention_variant, linear_num_key_heads, linear_num_value_heads, tensor_model_parallel_size, context_parallel_size",
       [](const Subject& s) { return is_gated_delta_net(s) && is_gdn_split_wrong(s); },
       "heads of a gated delta net are a multiple of the tensor and context ranks together (0.16.1: context_parallel_size 1)",
       kAllRevisions},
      {"dsa_cp", "", kClass, Effect::kRefuse, "experimental_attention_variant, context_parallel_size, cp_comm_type",
       [](const Subject& s) {
         return is_dsa(s) &&
                (s.is_0161() ? s.c.context_parallel_size != 1 : s.c.context_parallel_size > 1 && !gathers_all(s.c.cp_comm_type));
       },
       "dsa under context parallelism wants cp_comm_type allgather (0.16.1: context_parallel_size 1)", kAllRevisions},
      {"dsa_rope_fusion", "", kClass, Effect::kRefuse, "experimental_attention_variant, apply_rope_fusion",
       [](const Subject& s) { return is_dsa(s) && s.c.apply_rope_fusion; }, "dsa does not work with apply_rope_fusion", kAllRevisions},
      {"dsa_bias", "", kClass, Effect::kRefuse, "experimental_attention_variant, add_bias_linear",
       [](const Subject& s) { return is_dsa(s) && s.c.add_bias_linear; }, "dsa wants add_bias_linear: false", kMainAndDev},
      {"cp_comm_type", "", kClass, Effect::kRefuse, "context_parallel_size, cp_comm_type, num_layers",
       [](const Subject& s) {
         const NameList& types = s.c.cp_comm_type;
         const bool is_list = types.is_set && !types.is_text;
         return s.c.context_parallel_size > 1 && is_list && static_cast<std::int64_t>(types.names.size()) != s.c.num_layers;
       },
       "a list in cp_comm_type has one name a layer", kAllRevisions},
      {"mla_rope", "interleaved", kClass, Effect::kRefuse, "multi_latent_attention, rotary_interleaved",
       [](const Subject& s) { return s.c.multi_latent_attention && s.c.rotary_interleaved; },
       "multi-latent attention does not work with rotary_interleaved", kAllRevisions},
      {"mla_rope", "fusion", kClass, Effect::kRefuse, "multi_latent_attention, apply_rope_fusion, rope_type",
       [](const Subject& s) { return s.c.multi_latent_attention && s.c.apply_rope_fusion && s.c.rope_type != "yarn"; },
       "apply_rope_fusion in multi-latent attention wants rope_type yarn", kAllRevisions},
      {"output_gate", "mla", kClass, Effect::kRefuse, "multi_latent_attention, attention_output_gate",
       [](const Subject& s) { return s.c.multi_latent_attention && s.c.attention_output_gate; },
       "multi-latent attention has no attention_output_gate", kAllRevisions},
      {"output_gate", "fused_rope", kClass, Effect::kRefuse, "fused_single_qkv_rope, attention_output_gate",
       [](const Subject& s) { return s.c.fused_single_qkv_rope && s.c.attention_output_gate; },
       "fused_single_qkv_rope does not work with attention_output_gate", kAllRevisions},
      {"no_rope_freq", "", kClass, Effect::kRefuse, "no_rope_freq, num_layers",
       [](const Subject& s) {
         const LayerPattern& freq = s.c.no_rope_freq;
         if (freq.of_layer) return !freq.of_layer->empty() && static_cast<std::int64_t>(freq.of_layer->size()) != s.c.num_layers;
         return freq.every.value_or(0) != 0 && !divides(*freq.every, s.c.num_layers);
       },
       "no_rope_freq divides num_layers, or has one number a layer", kAllRevisions},
      {"bias_activation_fusion", "gelu", kClass, Effect::kRefuse, "bias_activation_fusion, gated_linear_unit, add_bias_linear",
       [](const Subject& s) { return s.c.bias_activation_fusion && !s.c.gated_linear_unit && !s.c.add_bias_linear; },
       "bias_activation_fusion of a plain gelu wants add_bias_linear", kAllRevisions},
      {"bias_activation_fusion", "te", kClass, Effect::kRefuse, "bias_activation_fusion, use_te_activation_func",
       [](const Subject& s) { return s.c.bias_activation_fusion && s.c.use_te_activation_func; },
       "bias_activation_fusion and use_te_activation_func exclude each other", kAllRevisions},
  };
}

}  // namespace rematch::compat
