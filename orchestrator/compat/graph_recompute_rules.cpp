// CUDA graphs against recompute: boundaries, random numbers, and what graphs make of labels in silence.
#include <map>

#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

constexpr auto kClass = Origin::kClass;

// The pieces of a layer between which a graph may begin or end, by the module that graphs them.
const std::map<std::string, Names>& pieces_of_module() {
  static const std::map<std::string, Names> pieces = {
      {"attn", {"input_norm", "mla_up_proj", "core_attn", "gdn", "gdn_norm"}},
      {"mlp", {"dense_mlp"}},
      {"moe", {"router", "preprocess", "dispatch", "experts", "expert_act", "shared_experts"}},
      {"moe_router", {"router", "shared_experts"}},
      {"moe_preprocess", {"preprocess"}},
      {"mamba", {"mamba"}},
  };
  return pieces;
}

// The pieces inside each label's boundary.
const std::map<std::string, Names>& pieces_of_label() {
  static const std::map<std::string, Names> pieces = {
      {"core_attn", {"core_attn"}}, {"mla_up_proj", {"mla_up_proj"}},
      {"mlp", {"dense_mlp"}},       {"moe", {"router", "preprocess", "dispatch", "experts", "expert_act", "shared_experts"}},
      {"moe_act", {"expert_act"}},  {"shared_experts", {"shared_experts"}},
      {"gdn", {"gdn", "gdn_norm"}}, {"gdn_norm_out", {"gdn_norm"}},
  };
  return pieces;
}

bool is_graphed(const Subject& s, const std::string& piece) {
  for (const auto& [module, pieces] : pieces_of_module())
    if (graphs_module(s, module) && contains(pieces, piece)) return true;
  return false;
}

bool straddles(const Subject& s, const std::string& label) {
  const auto pieces = pieces_of_label().find(label);
  if (pieces == pieces_of_label().end() || graphs_all(s)) return false;
  std::size_t num_graphed = 0;
  for (const std::string& piece : pieces->second) num_graphed += is_graphed(s, piece) ? 1 : 0;
  return num_graphed != 0 && num_graphed != pieces->second.size();
}

Names straddling_labels(const Subject& s) {
  Names found;
  if (!has_graphs(s) || !is_selective(s)) return found;
  for (const std::string& label : s.r.modules)
    if (straddles(s, label)) found.push_back(label);
  return found;
}

std::string straddling(const Subject& s) { return joined(straddling_labels(s)) + "; " + graph_list(s); }

bool has_jitter(const Subject& s) { return s.c.moe_input_jitter_eps.has_value(); }

bool remats_weights(const Subject& s) {
  const std::int64_t num_ranks = std::max<std::int64_t>(1, s.c.tensor_model_parallel_size);
  return s.c.tensor_parallel_num_weight_shards.value_or(num_ranks) / num_ranks > 1;
}

bool graphs_shared_experts(const Subject& s) {
  return graphs(s, "moe") || graphs_module(s, "moe_router") || graphs_module(s, "moe_preprocess");
}

bool keeps_pre_mlp_norm(const Subject& s) {
  const bool is_fit = s.c.moe_token_dispatcher_type == "alltoall" || s.c.moe_latent_size.has_value();
  return graphs_module(s, "moe_preprocess") && is_fit && !s.c.moe_shared_expert_overlap;
}

bool recomputes_anything(const Subject& s) { return is_full(s) || (is_selective(s) && !s.r.modules.empty()); }

}  // namespace

Rules graph_recompute_rules() {
  return {
      {"C1", "", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, cuda_graph_scope, recompute_granularity",
       [](const Subject& s) {
         const bool is_whole = s.is_0161() ? s.r.graph_modules == Names{"full_iteration"} : s.r.graph_impl == "full_iteration";
         return has_graphs(s) && is_full(s) && !is_whole;
       },
       "full recompute goes with a graph of the full iteration only: write cuda_graph_impl full_iteration (0.16.1: local and "
       "cuda_graph_scope [full_iteration]) or none",
       kAllRevisions, graph_list},
      {"C2", "", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, recompute_granularity, recompute_modules",
       [](const Subject& s) { return s.r.graph_impl == "transformer_engine" && selects(s, "moe") && graphs_module(s, "moe_router"); },
       "the checkpoint of moe would begin outside the router's graph: leave moe or moe_router out", kAllRevisions, graph_list},
      {"C3", "", kClass, Effect::kRefuse,
       "cuda_graph_impl, cuda_graph_modules, attention_dropout, recompute_granularity, recompute_modules",
       [](const Subject& s) { return s.c.attention_dropout != 0 && selects(s, "core_attn") && graphs(s, "attn"); },
       "a graphed replay takes no random numbers: set attention_dropout: 0 or leave core_attn or the graph out", kAllRevisions, graph_list},
      {"C4", "", kClass, Effect::kRefuse, "cuda_graph_impl, cuda_graph_modules, hidden_dropout, recompute_granularity, recompute_modules",
       [](const Subject& s) {
         const bool is_graphed = (selects(s, "mlp") && graphs(s, "mlp")) || (selects(s, "moe") && graphs(s, "moe"));
         return s.c.hidden_dropout != 0 && is_graphed;
       },
       "a graphed replay takes no random numbers: set hidden_dropout: 0 or leave mlp, moe or the graph out", kAllRevisions, graph_list},
      {"C5", "", kClass, Effect::kRefuse,
       "cuda_graph_impl, cuda_graph_modules, moe_input_jitter_eps, recompute_granularity, recompute_modules",
       [](const Subject& s) { return has_jitter(s) && selects(s, "moe") && graphs(s, "moe"); },
       "a graphed replay takes no random numbers: leave moe_input_jitter_eps unset (0.0 counts as set), or moe or the graph out",
       kAllRevisions, graph_list},
      {"C6", "", kClass, Effect::kRefuse,
       "tensor_parallel_num_weight_shards, tensor_model_parallel_size, cuda_graph_impl, cuda_graph_modules, fp8, fp4, "
       "moe_shared_expert_intermediate_size, moe_shared_expert_overlap, recompute_granularity, recompute_modules",
       [](const Subject& s) {
         const bool is_shared = s.c.moe_shared_expert_intermediate_size && !s.c.moe_shared_expert_overlap;
         return remats_weights(s) && s.r.graph_impl == "local" && is_quantized(s) && is_shared && graphs_shared_experts(s) &&
                selects(s, "shared_experts");
       },
       "the warm-up of a local graph calls grad(), Transformer Engine's checkpoint wants backward(): leave shared_experts or the graph out",
       kAfter0161, graph_list},
      {"C9", "", Origin::kRunTime, Effect::kRewrite,
       "cuda_graph_impl, cuda_graph_modules, recompute_granularity, recompute_modules, num_moe_experts, moe_token_dispatcher_type, "
       "moe_latent_size, moe_shared_expert_overlap",
       [](const Subject& s) {
         return s.r.graph_impl == "transformer_engine" && selects(s, "layernorm") && has_moe_layers(s) && graphs_module(s, "moe_router") &&
                !keeps_pre_mlp_norm(s);
       },
       "the norm before the experts would be a static output of the router's graph: layernorm drops the input norm's output alone; graph "
       "moe_preprocess as well, with alltoall or latent experts and no shared-expert overlap, or no router",
       kAllRevisions, graph_list},
      {"C10", "layer_checkpoint", Origin::kRunTime, Effect::kRewrite,
       "cuda_graph_impl, cuda_graph_modules, recompute_granularity, recompute_modules",
       [](const Subject& s) { return s.r.graph_impl == "local" && selects(s, "moe") && graphs_module(s, "moe_router"); },
       "under a local graph of the router the layer checkpoints norm, experts and residual in place of the MoE layer's own boundary",
       kAllRevisions, graph_list},
      {"C10", "inert", Origin::kRunTime, Effect::kIgnore, "cuda_graph_impl, cuda_graph_modules, recompute_granularity, recompute_modules",
       [](const Subject& s) {
         return s.r.graph_impl == "local" && selects(s, "moe") && !graphs_module(s, "moe_router") && !graphs_module(s, "full_iteration");
       },
       "under local graphs without the router moe is switched off in silence: nothing is recomputed", kAllRevisions, graph_list},
      {"C11", "", Origin::kRunTime, Effect::kWarn, "cuda_graph_impl, recompute_granularity, recompute_modules, cuda_graph_warmup_steps",
       [](const Subject& s) { return has_graphs(s) && recomputes_anything(s); },
       "the warm-up and capture of a graph bypass the checkpoints: the first steps show other memory; measure past "
       "cuda_graph_warmup_steps and the capture",
       kAllRevisions},
      {"graph_boundary", "", Origin::kOurs, Effect::kRefuse,
       "cuda_graph_impl, cuda_graph_modules, recompute_granularity, recompute_modules",
       [](const Subject& s) { return !straddling_labels(s).empty(); },
       "a checkpointed boundary lies wholly inside or wholly outside the graph: graph all of it or none", kAllRevisions, straddling},
  };
}

}  // namespace rematch::compat
