// FP8 and FP4 against labels, and among themselves.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

bool is_fp8(const Subject& s) { return !s.c.fp8.value_or("").empty(); }
bool is_fp4(const Subject& s) { return !s.c.fp4.value_or("").empty(); }

// Labels after which a linear layer has to save its input unquantized.
bool needs_original_input(const Subject& s) { return early_selects(s, "moe_act") || early_selects(s, "layernorm"); }

bool has_plain_checkpoint(const Subject& s) {
  return is_full(s) || selects(s, "core_attn") || selects(s, "mlp") || selects(s, "moe") || selects(s, "shared_experts") ||
         selects(s, "gdn");
}

bool is_out_of_range(std::int64_t count, const Subject& s) {
  return count < 0 || s.c.pipeline_model_parallel_size < 1 || count > s.c.num_layers / s.c.pipeline_model_parallel_size;
}

std::string te_version(const Subject& s) { return "te_version " + s.in.te_version->text(); }

}  // namespace

Rules quantization_rules() {
  return {
      {"Q1", "", kClass, Effect::kRefuse, "fp8, fp8_recipe, recompute_granularity, recompute_modules",
       [](const Subject& s) { return is_fp8(s) && needs_original_input(s) && s.c.fp8_recipe == "delayed"; },
       "moe_act and layernorm need the input as it was, which delayed scaling (the default recipe) does not save: choose another "
       "fp8_recipe or leave them out",
       kAllRevisions},
      {"Q2", "", kClass, Effect::kRefuse, "fp8, recompute_granularity, recompute_modules, te_version",
       [](const Subject& s) { return is_fp8(s) && needs_original_input(s) && is_older(s.in.te_version, "2.6.0.dev0"); },
       "moe_act and layernorm under fp8 need Transformer Engine 2.6.0.dev0 or newer", kAllRevisions, te_version},
      {"Q3", "", Origin::kRunTime, Effect::kRefuse, "fp8, fp4, experimental_attention_variant, recompute_granularity, recompute_modules",
       [](const Subject& s) { return is_quantized(s) && s.c.experimental_attention_variant == "dsa" && selects(s, "mla_up_proj"); },
       "mla_up_proj in absorbed multi-latent attention is not verified under fp8 or fp4: the layer raises in forward; leave one out",
       kOnlySnapshot},
      {"Q4", "", Origin::kRunTime, Effect::kRefuse, "fp8, fp4, recompute_granularity, recompute_modules, cross_attention",
       [](const Subject& s) { return is_quantized(s) && selects(s, "layernorm") && s.in.surroundings.cross_attention; },
       "cross attention cannot save its input unquantized: construction raises; leave layernorm out", kAllRevisions},
      {"Q5", "", Origin::kRunTime, Effect::kRewrite, "fp8, fp4, recompute_granularity, recompute_modules",
       [](const Subject& s) { return is_quantized(s) && has_plain_checkpoint(s); },
       "under fp8 or fp4 Transformer Engine's own checkpoint takes the place of Megatron Core's: recipe and amax phase are restored",
       kAllRevisions},
      {"te_version_unknown", "", Origin::kOurs, Effect::kWarn, "fp8, recompute_granularity, recompute_modules, te_version",
       [](const Subject& s) { return is_fp8(s) && needs_original_input(s) && !s.in.te_version; },
       "te_version is not known: whether Transformer Engine can do this (Q2) was not checked", kAllRevisions},
      {"fp4_and_fp8", "", kClass, Effect::kRefuse, "fp8, fp4", [](const Subject& s) { return is_fp8(s) && is_fp4(s); },
       "fp4 and fp8 exclude each other: leave one out", kAllRevisions},
      {"fp8_param", "", kClass, Effect::kRefuse, "fp8, fp8_param", [](const Subject& s) { return s.c.fp8_param && !is_fp8(s); },
       "fp8_param wants fp8", kAllRevisions},
      {"fp4_param", "", kClass, Effect::kRefuse, "fp4, fp4_param", [](const Subject& s) { return s.c.fp4_param && !is_fp4(s); },
       "fp4_param wants fp4", kAllRevisions},
      {"fp8_custom_recipe", "", kClass, Effect::kRefuse, "fp8, fp8_recipe, fp8_quantizer_factory",
       [](const Subject& s) { return is_fp8(s) && s.c.fp8_recipe == "custom" && s.c.fp8_quantizer_factory.value_or("").empty(); },
       "fp8_recipe custom wants fp8_quantizer_factory", kAllRevisions},
      {"fp4_custom_recipe", "", kClass, Effect::kRefuse, "fp4, fp4_recipe, fp4_quantizer_factory",
       [](const Subject& s) { return is_fp4(s) && s.c.fp4_recipe == "custom" && s.c.fp4_quantizer_factory.value_or("").empty(); },
       "fp4_recipe custom wants fp4_quantizer_factory", kAllRevisions},
      {"bf16_ends", "delayed", kClass, Effect::kRefuse, "fp8, fp8_recipe, first_last_layers_bf16",
       [](const Subject& s) { return is_fp8(s) && s.c.first_last_layers_bf16 && s.c.fp8_recipe == "delayed"; },
       "delayed scaling does not allow first and last layers in bf16", kAllRevisions},
      {"bf16_ends", "range", kClass, Effect::kRefuse,
       "fp8, first_last_layers_bf16, num_layers_at_start_in_bf16, num_layers_at_end_in_bf16, num_layers, pipeline_model_parallel_size",
       [](const Subject& s) {
         const bool is_wrong = is_out_of_range(s.c.num_layers_at_start_in_bf16, s) || is_out_of_range(s.c.num_layers_at_end_in_bf16, s);
         return is_fp8(s) && s.c.first_last_layers_bf16 && is_wrong;
       },
       "first and last layers in bf16 are 0 to the layers of a pipeline stage", kAllRevisions},
      {"fp16_and_bf16", "", kClass, Effect::kRefuse, "fp16, bf16", [](const Subject& s) { return s.c.fp16 && s.c.bf16; },
       "fp16 and bf16 exclude each other: leave one out", kAllRevisions},
  };
}

}  // namespace rematch::compat
