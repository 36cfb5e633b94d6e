// What the rules' conditions ask of a subject, by words that several rows share. Pure. Internal to compat.
#pragma once

#include <string>
#include <string_view>

#include "orchestrator/compat/rules.h"

namespace rematch::compat {

bool is_full(const Subject& subject);
bool is_selective(const Subject& subject);
// Of the labels that take effect in the end, and of those that most checks see: before moe_layer_recompute.
bool selects(const Subject& subject, std::string_view label);
bool early_selects(const Subject& subject, std::string_view label);
bool early_is(const Subject& subject, std::string_view granularity);

bool is_quantized(const Subject& subject);  // fp8 or fp4
bool is_gated_delta_net(const Subject& subject);
bool is_older(const std::optional<Version>& version, std::string_view than);  // false where the version is not known

bool has_graphs(const Subject& subject);
bool has_layer_graphs(const Subject& subject);  // local or transformer_engine
bool graphs_module(const Subject& subject, std::string_view module);
bool graphs_all(const Subject& subject);                       // whole layers or whole iterations
bool graphs(const Subject& subject, std::string_view module);  // by name, or with everything

bool has_moe_layers(const Subject& subject);
bool has_dense_layers(const Subject& subject);
bool has_shared_experts(const Subject& subject);
bool drops_and_pads(const Subject& subject);
std::int64_t num_layers_of_chunk(const Subject& subject);              // of the largest
std::int64_t num_sites_of(const Subject& subject, const char* label);  // of a trial's model

std::string module_list(const Subject& subject);  // "recompute_modules: moe, mlp"
std::string graph_list(const Subject& subject);   // "cuda_graph_impl local, modules: attn"

// Labels that this model has no layer for, each with the reason; shared_experts has a rule of its own.
bool has_label_without_site(const Subject& subject);
std::string labels_without_site(const Subject& subject);

}  // namespace rematch::compat
