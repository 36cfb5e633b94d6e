// CUDA graphs by themselves: implementation, names of modules, deprecated spellings, modules that a model can graph.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

Names implementations(const Subject& s) {
  Names names = {"none", "local", "transformer_engine"};
  if (!s.is_0161()) names.emplace_back("full_iteration");
  return names;
}

bool has_alias(const Subject& s, std::string_view name) { return contains(s.r.deprecated_graph_modules, name); }
bool uses_legacy_flag(const Subject& s) { return s.c.enable_cuda_graph || s.c.external_cuda_graph; }

// "full", null and [] are taken as unset.
bool names_modules_twice(const Subject& s) {
  const NameList& modules = s.c.cuda_graph_modules;
  const bool is_as_unset = modules.is_text ? modules.names.front() == "full" : modules.names.empty();
  return s.c.cuda_graph_scope.is_set && !is_as_unset;
}

Names deprecated_spellings(const Subject& s) {
  Names found;
  if (s.c.enable_cuda_graph) found.emplace_back("enable_cuda_graph: write cuda_graph_impl local");
  if (s.c.external_cuda_graph) found.emplace_back("external_cuda_graph: write cuda_graph_impl transformer_engine");
  if (!s.is_0161() && s.c.cuda_graph_scope.is_set) found.emplace_back("cuda_graph_scope: write cuda_graph_modules");
  if (s.r.wrote_full_graph) found.emplace_back("the module full: write []");
  if (has_alias(s, "full_iteration")) found.emplace_back("the module full_iteration: write cuda_graph_impl full_iteration");
  if (has_alias(s, "full_iteration_inference")) found.emplace_back("the module full_iteration_inference: write inference_cuda_graph_scope");
  return found;
}

// The scope of inference graphs that each implementation allows; the first is its default.
Names inference_scopes(const std::string& impl) { return impl == "local" ? Names{"layer", "block"} : Names{"none"}; }

bool has_wrong_inference_scope(const Subject& s) {
  const Text& scope = s.c.inference_cuda_graph_scope;
  return scope && !contains(inference_scopes(s.r.graph_impl), *scope);
}

bool is_layer_impl(const Subject& s) { return has_layer_graphs(s); }
bool is_dense(const Subject& s) { return s.c.num_moe_experts.value_or(0) <= 1; }

bool has_only_moe_layers(const Subject& s) {
  const LayerPattern& freq = s.c.moe_layer_freq;
  if (!freq.of_layer) return freq.every == 1;
  for (const std::int64_t kind : *freq.of_layer)
    if (kind == 0) return false;
  return true;
}

bool synchronises(const Subject& s) {
  return s.c.moe_token_dispatcher_type == "alltoall" && (s.r.capacity_factor || s.c.moe_router_padding_for_fp8);
}

std::string found_impl(const Subject& s) { return "found '" + s.r.graph_impl + "', wanted " + joined(implementations(s)); }
std::string unknown_modules(const Subject& s) {
  return joined(s.r.unknown_graph_modules) + "; wanted attn, mlp, moe, moe_router, moe_preprocess, mamba" +
         (s.is_0161() ? ", full_iteration" : "");
}
std::string spellings(const Subject& s) { return joined(deprecated_spellings(s)); }

}  // namespace

Rules graph_rules() {
  return {
      {"graph_impl_name", "", kClass, Effect::kRefuse, "cuda_graph_impl",
       [](const Subject& s) { return !contains(implementations(s), s.r.graph_impl); },
       "cuda_graph_impl has a name that this core revision does not know", kAllRevisions, found_impl},
      {"graph_module_name", "", kClass, Effect::kRefuse, "cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) { return !s.r.unknown_graph_modules.empty(); },
       "a graphed module has a name that this core revision does not know, even if nothing is graphed", kAllRevisions, unknown_modules},
      {"legacy_graph_flag", "", kClass, Effect::kRefuse, "enable_cuda_graph, external_cuda_graph, cuda_graph_impl",
       [](const Subject& s) {
         return uses_legacy_flag(s) && (s.c.cuda_graph_impl != "none" || (s.c.enable_cuda_graph && s.c.external_cuda_graph));
       },
       "enable_cuda_graph and external_cuda_graph exclude each other and cuda_graph_impl: write cuda_graph_impl alone", kAllRevisions},
      {"C7", "", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules",
       [](const Subject& s) { return s.r.graph_impl == "full_iteration" && !s.r.graph_modules.empty(); },
       "a full_iteration graph covers everything: write cuda_graph_modules: []", kAfter0161, graph_list},
      {"C8", "", kClass, Effect::kRefuse, "cpu_offloading, cuda_graph_impl",
       [](const Subject& s) { return s.c.cpu_offloading && has_graphs(s) && (s.is_0161() || s.r.graph_impl != "full_iteration"); },
       "cpu_offloading and this CUDA graph exclude each other: leave one out", kAllRevisions, graph_list},
      {"C12", "deprecated", kClass, Effect::kRewrite, "enable_cuda_graph, external_cuda_graph, cuda_graph_scope, cuda_graph_modules",
       [](const Subject& s) { return !deprecated_spellings(s).empty(); }, "deprecated spellings are replaced by the present ones",
       kAllRevisions, spellings, true},
      {"C12", "local_adds", kClass, Effect::kRewrite, "cuda_graph_impl, cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) {
         const bool wrote_both = contains(s.r.written_graph_modules, "moe_router") && contains(s.r.written_graph_modules, "moe_preprocess");
         return s.r.graph_impl == "local" && graphs_module(s, "moe_router") && !wrote_both;
       },
       "local graphs take moe_router and moe_preprocess together: the missing one is added", kAllRevisions, graph_list},
      {"C12", "both_names", kClass, Effect::kRefuse, "cuda_graph_modules, cuda_graph_scope", names_modules_twice,
       "cuda_graph_scope is the old name of cuda_graph_modules: leave cuda_graph_scope out", kAfter0161},
      {"C12", "full_and_others", kClass, Effect::kRefuse, "cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) { return s.r.wrote_full_graph && s.r.written_graph_modules.size() > 1; },
       "full means the whole layer and stands alone: write [] or the modules", kAllRevisions},
      {"C12", "two_aliases", kClass, Effect::kRefuse, "cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) { return has_alias(s, "full_iteration") && has_alias(s, "full_iteration_inference"); },
       "full_iteration and full_iteration_inference exclude each other: write cuda_graph_impl and inference_cuda_graph_scope", kAfter0161},
      {"C12", "full_iteration_impl", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) {
         if (s.is_0161()) return s.r.graph_impl == "transformer_engine" && graphs_module(s, "full_iteration");
         const Text& scope = s.c.inference_cuda_graph_scope;
         const bool is_fit = contains({"none", "local", "full_iteration"}, s.r.graph_impl_before_modules) && (!scope || scope == "none");
         return has_alias(s, "full_iteration") && !is_fit;
       },
       "a graph of the full iteration is none of transformer_engine's nor of inference: write cuda_graph_impl full_iteration (0.16.1: "
       "local)",
       kAllRevisions, graph_list},
      {"C12", "inference_impl", kClass, Effect::kRefuse,
       "cuda_graph_impl, cuda_graph_modules, cuda_graph_scope, inference_cuda_graph_scope",
       [](const Subject& s) {
         const Text& scope = s.c.inference_cuda_graph_scope;
         const bool is_fit = contains({"none", "local"}, s.r.graph_impl_before_modules) && (!scope || scope == "block");
         return has_alias(s, "full_iteration_inference") && !is_fit;
       },
       "a graph of the full inference iteration is local: write cuda_graph_impl local and inference_cuda_graph_scope block", kAfter0161,
       graph_list},
      {"C12", "inference_scope", kClass, Effect::kRefuse, "cuda_graph_impl, inference_cuda_graph_scope", has_wrong_inference_scope,
       "inference_cuda_graph_scope is layer or block under local, none under any other implementation", kAfter0161},
      {"C12", "moe_and_router", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) { return is_layer_impl(s) && graphs_module(s, "moe") && graphs_module(s, "moe_router"); },
       "moe covers moe_router: name one of them", kAllRevisions},
      {"C12", "preprocess_needs_router", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, cuda_graph_scope",
       [](const Subject& s) { return is_layer_impl(s) && graphs_module(s, "moe_preprocess") && !graphs_module(s, "moe_router"); },
       "moe_preprocess is graphed with moe_router only: name both", kAllRevisions},
      {"C12", "mlp_in_moe_model", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, num_moe_experts, moe_layer_freq",
       [](const Subject& s) { return is_layer_impl(s) && !is_dense(s) && has_only_moe_layers(s) && graphs_module(s, "mlp"); },
       "mlp is graphed in dense layers, and this model has none: take it out", kAllRevisions},
      {"C12", "moe_needs_drop_and_pad", kClass, Effect::kRefuse,
       "cuda_graph_impl, cuda_graph_modules, num_moe_experts, moe_expert_capacity_factor, moe_pad_expert_input_to_capacity",
       [](const Subject& s) { return is_layer_impl(s) && !is_dense(s) && !drops_and_pads(s) && graphs_module(s, "moe"); },
       "a graphed moe needs shapes that do not change: set moe_expert_capacity_factor and moe_pad_expert_input_to_capacity", kAllRevisions},
      {"moe_graph_in_dense_model", "", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, num_moe_experts",
       [](const Subject& s) { return is_layer_impl(s) && is_dense(s) && (graphs_module(s, "moe") || graphs_module(s, "moe_router")); },
       "moe and moe_router are graphed in a model with more than one expert only: take them out", kAllRevisions},
      {"preprocess_sync", "", kClass, Effect::kRefuse,
       "cuda_graph_impl, cuda_graph_modules, num_moe_experts, moe_token_dispatcher_type, moe_expert_capacity_factor, "
       "moe_pad_expert_input_to_capacity, moe_router_padding_for_fp8",
       [](const Subject& s) {
         return is_layer_impl(s) && !is_dense(s) && !drops_and_pads(s) && synchronises(s) && graphs_module(s, "moe_preprocess");
       },
       "this preprocessing copies from the device and waits, which no graph can hold: pad to capacity or take moe_preprocess out",
       kAllRevisions},
  };
}

}  // namespace rematch::compat
