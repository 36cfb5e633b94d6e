#include "orchestrator/compat/conditions.h"

#include <algorithm>

#include "orchestrator/compat/of_trial.h"

namespace rematch::compat {

namespace {

bool any_layer(const LayerPattern& pattern, bool wanted) {
  return std::any_of(pattern.of_layer->begin(), pattern.of_layer->end(), [&](std::int64_t kind) { return (kind != 0) == wanted; });
}

// Every Nth layer has full attention, or a list says 1 for a gated delta net.
bool has_linear_layers(const Subject& subject, bool wanted) {
  const LayerPattern& freq = subject.c.linear_attention_freq;
  if (freq.of_layer) return any_layer(freq, wanted);
  if (!freq.every) return true;
  return wanted ? *freq.every > 1 : subject.c.num_layers >= *freq.every;
}

// Is any norm a module of its own, not fused into the linear layer behind it?
bool has_separate_norm(const Subject& subject) {
  if (subject.c.transformer_impl == "local" || has_moe_layers(subject)) return true;
  return subject.c.multi_latent_attention && !subject.c.mla_down_proj_fusion;
}

// Empty: it has one, or another rule says that it has none.
std::string why_no_site(const Subject& subject, const std::string& label) {
  if (label == "mlp" && !has_dense_layers(subject)) return "mlp: every layer has experts in the MLP's place";
  if ((label == "moe" || label == "moe_act") && !has_moe_layers(subject)) return label + ": the model has no MoE layer";
  if (label == "layernorm" && !has_separate_norm(subject)) return "layernorm: each norm is fused into the linear layer behind it";
  if (label == "core_attn" && is_gated_delta_net(subject) && !has_linear_layers(subject, false))
    return "core_attn: every layer is a gated delta net";
  if ((label == "gdn_norm_out" || label == "gdn") && is_gated_delta_net(subject) && !has_linear_layers(subject, true))
    return label + ": no layer is a gated delta net";
  return "";
}

Names reasons_without_site(const Subject& subject) {
  if (subject.setting != nullptr) return reasons_without_site(*subject.setting);
  Names reasons;
  if (!is_selective(subject)) return reasons;
  for (const std::string& label : subject.r.modules)
    if (const std::string reason = why_no_site(subject, label); !reason.empty() && !contains(reasons, reason)) reasons.push_back(reason);
  return reasons;
}

}  // namespace

bool is_full(const Subject& subject) { return subject.r.granularity == "full"; }
bool is_selective(const Subject& subject) { return subject.r.granularity == "selective"; }
bool selects(const Subject& subject, std::string_view label) { return is_selective(subject) && contains(subject.r.modules, label); }
bool early_is(const Subject& subject, std::string_view granularity) { return subject.r.early_granularity == granularity; }
bool early_selects(const Subject& subject, std::string_view label) {
  return early_is(subject, "selective") && contains(subject.r.early_modules, label);
}

bool is_quantized(const Subject& subject) { return !subject.c.fp8.value_or("").empty() || !subject.c.fp4.value_or("").empty(); }

bool is_gated_delta_net(const Subject& subject) {
  const Text& variant = subject.c.experimental_attention_variant;
  return variant == "gated_delta_net" || (subject.in.core_revision == protocol::kMain && (variant == "gdn" || variant == "gdn2"));
}

bool is_older(const std::optional<Version>& version, std::string_view than) { return version && *version < *Version::parse(than); }

bool has_graphs(const Subject& subject) { return subject.r.graph_impl != "none"; }
bool has_layer_graphs(const Subject& subject) { return has_graphs(subject) && subject.r.graph_impl != "full_iteration"; }
bool graphs_module(const Subject& subject, std::string_view module) {
  return has_graphs(subject) && contains(subject.r.graph_modules, module);
}
bool graphs_all(const Subject& subject) {
  return has_graphs(subject) &&
         (subject.r.graph_impl == "full_iteration" || subject.r.graph_modules.empty() || graphs_module(subject, "full_iteration"));
}
bool graphs(const Subject& subject, std::string_view module) { return graphs_all(subject) || graphs_module(subject, module); }

bool has_moe_layers(const Subject& subject) {
  if (subject.setting != nullptr) return num_sites(*subject.setting, "moe") > 0;
  if (subject.c.num_moe_experts.value_or(0) < 1) return false;
  return !subject.c.moe_layer_freq.of_layer || any_layer(subject.c.moe_layer_freq, true);
}

bool has_dense_layers(const Subject& subject) {
  if (subject.setting != nullptr) return num_sites(*subject.setting, "mlp") > 0;
  const LayerPattern& freq = subject.c.moe_layer_freq;
  if (!has_moe_layers(subject)) return true;
  return freq.of_layer ? any_layer(freq, false) : freq.every.value_or(1) > 1;
}

bool has_shared_experts(const Subject& subject) {
  if (subject.setting != nullptr) return num_sites(*subject.setting, "shared_experts") > 0;
  return subject.r.has_shared_experts && has_moe_layers(subject);
}

bool drops_and_pads(const Subject& subject) { return subject.r.capacity_factor && subject.c.moe_pad_expert_input_to_capacity; }

std::int64_t num_layers_of_chunk(const Subject& subject) {
  if (subject.setting != nullptr) return num_layers_of_chunk(*subject.setting);
  const std::int64_t num_chunks = std::max<std::int64_t>(1, subject.c.pipeline_model_parallel_size) *
                                  std::max<std::int64_t>(1, subject.c.virtual_pipeline_model_parallel_size.value_or(1));
  return (subject.c.num_layers + num_chunks - 1) / num_chunks;
}

std::int64_t num_sites_of(const Subject& subject, const char* label) { return num_sites(*subject.setting, label); }

std::string module_list(const Subject& subject) { return "recompute_modules: " + joined(subject.r.modules); }

std::string graph_list(const Subject& subject) {
  const std::string modules = subject.r.graph_modules.empty() ? "none named, so that all is graphed" : joined(subject.r.graph_modules);
  return "cuda_graph_impl " + subject.r.graph_impl + ", modules: " + modules;
}

bool has_label_without_site(const Subject& subject) { return !reasons_without_site(subject).empty(); }

std::string labels_without_site(const Subject& subject) {
  std::string text;
  for (const std::string& reason : reasons_without_site(subject)) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

}  // namespace rematch::compat
