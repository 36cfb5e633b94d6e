#include "orchestrator/compat/label_pages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace rematch::compat {

namespace {

constexpr std::array kPages = {
    LabelPage{"core_attn", "megatron/core/transformer/attention.py", "q, k, v, the mask; the output, which the output projection saves",
              "one more attention forward; under context parallelism its ring or all-to-all traffic as well",
              "gated delta nets and Mamba layers have no core attention; fused and flash attention hold next to nothing to drop",
              "L5, X1, Q5, graph_boundary, C11"},
    LabelPage{"mla_up_proj", "megatron/core/transformer/multi_latent_attention.py",
              "the compressed q and kv (without q_lora_rank: the input norm's output), the gathered positional part of k, the rope table",
              "the up-projections of q and kv with their norms, rope and the joining of the parts",
              "attention without latents is refused (L3)", "C11"},
    LabelPage{"layernorm", "megatron/core/transformer/transformer_layer.py", "the norms' inputs, which the residual stream holds anyway",
              "the input norm and the norm before the MLP, each where it is a module of its own",
              "norms that are fused into the linear layer behind them: input norms of grouped-query attention, gated delta nets and Mamba, "
              "norms before a dense MLP; Mamba layers have none apart",
              "L8, C11"},
    LabelPage{"moe_act", "megatron/core/transformer/moe/experts.py", "FC1's output, the probabilities, the experts' input",
              "the activation between grouped FC1 and FC2; neither dispatch nor a matrix product",
              "dense layers and shared experts; experts without grouped GEMM are refused (L2)", "C11"},
    LabelPage{"mlp", "megatron/core/transformer/transformer_layer.py", "the MLP's input", "the whole dense MLP, a fused norm included",
              "layers whose MLP is a mixture of experts; Mamba layers", "L8, Q5, graph_boundary, C11"},
    LabelPage{"moe", "megatron/core/transformer/moe/moe_layer.py",
              "the MoE layer's input, the norm's output before it (dropped too where layernorm is selected)",
              "router, dispatch and combine with their communication, experts, shared experts", "dense layers; local CUDA graphs (C10)",
              "L8, M5, Q5, C10, graph_boundary, C11"},
    LabelPage{"shared_experts", "megatron/core/transformer/moe/moe_layer.py", "the input, which the router holds as well",
              "the shared experts' MLP",
              "models without shared experts (L7); inside moe it drops nothing in the first forward; overlapped ones are refused (L6)",
              "L6, L7, Q5, C6, graph_boundary, C11"},
    LabelPage{"gdn_norm_out", "megatron/core/ssm/gated_delta_net/gdn.py", "the output before the norm, the gate",
              "the gated norm, its transposition and the all-to-all from heads to tokens",
              "other layers; models without one are refused (L4)", "X1, C11"},
    LabelPage{"gdp_in_proj", "megatron/core/ssm/gated_delta_product.py", "the layer's input",
              "the input projection and its gathering over context parallelism", "layers that are no gated delta product", "L1, C11"},
    LabelPage{"gdp_qkv", "megatron/core/ssm/gated_delta_product.py", "the input projection's output",
              "the convolution and the preparation of q, k and v", "layers that are no gated delta product", "L1, C11"},
    LabelPage{"mhc", "megatron/core/transformer/hyper_connection.py", "the residual in n streams",
              "aggregation and expansion of hyper-connections, several layers from one hook", "models without hyper-connections (H1)",
              "H1, H2, C11"},
    LabelPage{"gdn", "megatron/core/ssm/gated_delta_net/gdn.py", "the layer's input", "the whole gated delta net, projections and norm",
              "other layers; models without one are refused (L4)", "L9, Q5, C11"},
};

bool is_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

}  // namespace

const LabelPage& label_page(std::string_view label) {
  for (const LabelPage& page : kPages)
    if (page.label == label) return page;
  throw std::logic_error("a label without a page: " + std::string(label));
}

std::vector<const Rule*> rules_about(std::string_view label, std::string_view core_revision) {
  std::vector<const Rule*> found;
  const std::string_view more = label_page(label).more_rules;
  for (const Rule& rule : rules()) {
    const bool names_it = has_word(rule.fields, "recompute_modules") && has_word(rule.reason, label);
    if (protocol::contains(rule.core_revisions, core_revision) && (names_it || has_word(more, rule.id))) found.push_back(&rule);
  }
  return found;
}

std::vector<const Rule*> rules_named(std::string_view name) {
  std::vector<const Rule*> found;
  for (const Rule& rule : rules())
    if (rule.id == name || key_of(rule) == name) found.push_back(&rule);
  return found;
}

}  // namespace rematch::compat
