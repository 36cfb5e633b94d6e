#include "orchestrator/compat/resolved.h"

#include <algorithm>

#include "orchestrator/spec/nearest.h"

namespace rematch::compat {

namespace {

bool is_0161(const Configuration& configuration) { return configuration.core_revision == protocol::kRelease0161; }

// A text in the place of a list is iterated by its letters.
Names elements_of(const NameList& list) {
  if (!list.is_text) return list.names;
  Names letters;
  for (const char letter : list.names.front()) letters.emplace_back(1, letter);
  return letters;
}

void resolve_recompute(const Configuration& configuration, Resolved& resolved) {
  const MegatronConfig& config = configuration.config;
  resolved.early_granularity = configuration.surroundings.recompute_activations ? Text("selective") : config.recompute_granularity;
  resolved.early_modules = config.recompute_modules.is_set ? elements_of(config.recompute_modules) : Names{"core_attn"};
  resolved.granularity = resolved.early_granularity;
  resolved.modules = resolved.early_modules;
  if (!config.moe_layer_recompute || resolved.early_granularity == "full") return;
  resolved.granularity = "selective";
  if (!contains(resolved.modules, "moe")) resolved.modules.emplace_back("moe");
}

Names split_text(const std::string& text, bool is_0161) {
  if (text.empty() && !is_0161) return {};
  Names parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string impl_of_flags(const MegatronConfig& config) {
  if (config.external_cuda_graph) return "transformer_engine";
  if (config.enable_cuda_graph) return "local";
  return config.cuda_graph_impl.value_or("null");
}

bool is_module(const std::string& name, bool is_0161) {
  static const Names modules = {"attn", "mlp", "moe", "moe_router", "moe_preprocess", "mamba"};
  return contains(modules, name) || (is_0161 && name == "full_iteration");
}

bool is_alias(const std::string& name) { return name == "full_iteration" || name == "full_iteration_inference"; }

void sort_out_names(const Configuration& configuration, Resolved& resolved) {
  resolved.wrote_full_graph = contains(resolved.written_graph_modules, "full");
  if (resolved.wrote_full_graph) return;
  for (const std::string& name : resolved.written_graph_modules) {
    if (is_module(name, is_0161(configuration))) {
      resolved.graph_modules.push_back(name);
    } else if (!is_0161(configuration) && is_alias(name)) {
      resolved.deprecated_graph_modules.push_back(name);
    } else {
      resolved.unknown_graph_modules.push_back(name);
    }
  }
}

// The local implementation does not tell the router from the preprocessing.
void add_local_modules(Names& modules) {
  const bool has_router = contains(modules, "moe_router");
  const bool has_preprocess = contains(modules, "moe_preprocess");
  if (has_preprocess && !has_router) modules.emplace_back("moe_router");
  if (has_router && !has_preprocess) modules.emplace_back("moe_preprocess");
}

void resolve_graphs(const Configuration& configuration, Resolved& resolved) {
  const MegatronConfig& config = configuration.config;
  const NameList& written = config.cuda_graph_scope.is_set || is_0161(configuration) ? config.cuda_graph_scope : config.cuda_graph_modules;
  resolved.written_graph_modules = written.is_text ? split_text(written.names.front(), is_0161(configuration)) : written.names;
  resolved.graph_impl_before_modules = impl_of_flags(config);
  resolved.graph_impl = resolved.graph_impl_before_modules;
  sort_out_names(configuration, resolved);
  const bool is_migrated =
      contains({"none", "local"}, resolved.graph_impl) && contains(resolved.deprecated_graph_modules, "full_iteration");
  if (is_migrated) resolved.graph_impl = "full_iteration";
  if (resolved.graph_impl == "local") add_local_modules(resolved.graph_modules);
}

}  // namespace

Resolved resolve(const Configuration& configuration) {
  const MegatronConfig& config = configuration.config;
  Resolved resolved;
  resolve_recompute(configuration, resolved);
  resolve_graphs(configuration, resolved);
  resolved.offload_modules = elements_of(config.offload_modules);
  if (config.moe_expert_capacity_factor && *config.moe_expert_capacity_factor >= 0)
    resolved.capacity_factor = config.moe_expert_capacity_factor;
  resolved.expert_tensor_parallel_size = config.expert_tensor_parallel_size.value_or(config.tensor_model_parallel_size);
  resolved.has_shared_experts = config.moe_shared_expert_intermediate_size.value_or(0) > 0;
  return resolved;
}

bool contains(const Names& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

Names found_in(const Names& names, const Names& wanted) {
  Names found;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(found), [&](const std::string& name) { return contains(names, name); });
  return found;
}

std::string joined(const Names& names) { return spec::join(names, ", "); }

}  // namespace rematch::compat
