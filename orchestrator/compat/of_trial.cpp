#include "orchestrator/compat/of_trial.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schemas/protocol/field_rules.h"
#include "schemas/protocol/json_fields.h"
#include "schemas/protocol/pipeline_layers.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::compat {

namespace {

bool has_row(const protocol::FamilyDescription& family, std::string_view label) {
  const protocol::LabelSites* sites = protocol::find_sites(family, std::string(label));
  return sites != nullptr &&
         std::any_of(sites->per_layer.begin(), sites->per_layer.end(), [](const auto& kind) { return kind.second > 0; });
}

Names selected_labels(const Setting& setting) {
  const auto& recompute = setting.trial.recompute;
  return recompute.recompute_granularity == "selective" ? recompute.recompute_modules.value_or(Names{}) : Names{};
}

void take_model(const Setting& setting, Configuration& configuration) {
  nlohmann::json fields = protocol::json_document(setting.trial.model.fields);
  fields.erase("linear_attention_freq");  // the family says below whether it is a gated delta net
  read_fields(fields, configuration);
  configuration.not_there.clear();  // fields of the trainer's families, which have been checked
  MegatronConfig& config = configuration.config;
  if (config.moe_shared_expert_intermediate_size == 0) config.moe_shared_expert_intermediate_size.reset();
  config.multi_latent_attention = family_has(setting, "mla_up_proj");
  if (!family_has(setting, "gdn_norm_out")) return;
  config.experimental_attention_variant = "gated_delta_net";
  config.linear_attention_freq.of_layer.emplace();
}

void take_layout(const protocol::ParallelSpec& parallel, MegatronConfig& config) {
  config.tensor_model_parallel_size = parallel.tensor_model_parallel_size;
  config.pipeline_model_parallel_size = parallel.pipeline_model_parallel_size;
  config.virtual_pipeline_model_parallel_size = parallel.virtual_pipeline_model_parallel_size;
  config.context_parallel_size = parallel.context_parallel_size;
  config.expert_model_parallel_size = parallel.expert_model_parallel_size;
  config.expert_tensor_parallel_size = parallel.expert_tensor_parallel_size;
  config.sequence_parallel = parallel.sequence_parallel;
}

void take_features(const protocol::Trial& trial, MegatronConfig& config) {
  config.bf16 = trial.training.bf16;
  config.pipeline_dtype = trial.training.bf16 ? "bfloat16" : "float32";
  config.fp8 = trial.features.fp8;
  config.fp8_recipe = trial.optimizer.fp8_recipe.value_or("delayed");
  config.cuda_graph_impl = trial.features.cuda_graph_impl;
  config.moe_shared_expert_overlap = trial.features.moe_shared_expert_overlap;
  config.cpu_offloading = trial.features.cpu_offloading;
}

void take_recompute(const protocol::RecomputeSpec& recompute, MegatronConfig& config) {
  config.recompute_granularity = recompute.recompute_granularity;
  config.recompute_modules = {recompute.recompute_modules.has_value(), false, recompute.recompute_modules.value_or(Names{})};
  config.recompute_method = recompute.recompute_method;
  config.recompute_num_layers = recompute.recompute_num_layers;
  config.distribute_saved_activations = recompute.distribute_saved_activations;
}

void take_trainer(MegatronConfig& config) {
  config.attention_dropout = 0;
  config.hidden_dropout = 0;
  config.add_bias_linear = false;
  config.moe_token_dispatcher_type = "alltoall";
  config.cuda_graph_modules = {true, false, {}};
  config.cuda_graph_scope = {};
}

}  // namespace

Configuration configuration_of(const Setting& setting) {
  Configuration configuration;
  const std::string& revision = setting.trial.recompute.core_revision;
  configuration.core_revision = std::string(protocol::resolve_revision(revision).value_or(revision));
  take_model(setting, configuration);
  take_layout(setting.trial.parallel, configuration.config);
  take_features(setting.trial, configuration.config);
  take_recompute(setting.trial.recompute, configuration.config);
  take_trainer(configuration.config);
  return configuration;
}

bool family_has(const Setting& setting, std::string_view label) { return has_row(setting.family, label); }

std::int64_t num_sites(const Setting& setting, const std::string& label) {
  return protocol::count_sites(setting.family, setting.trial.model.fields, label);
}

std::int64_t num_layers_of_chunk(const Setting& setting) {
  const auto num_layers = static_cast<std::int64_t>(protocol::layer_kinds(setting.family, setting.trial.model.fields).of_layer.size());
  const auto sizes = protocol::chunk_sizes(num_layers, setting.trial.parallel);
  return *std::max_element(sizes.begin(), sizes.end());
}

std::string no_site_reason(const Setting& setting, const std::string& label) {
  const protocol::LabelSites* sites = protocol::find_sites(setting.family, label);
  const bool has_reason = sites != nullptr && !sites->no_site_reason.empty();
  return label + ": " + (has_reason ? sites->no_site_reason : "family " + setting.family.name + " has no such boundary");
}

Names reasons_without_site(const Setting& setting) {
  Names reasons;
  for (const std::string& label : selected_labels(setting))
    if (label != "shared_experts" && num_sites(setting, label) == 0) reasons.push_back(no_site_reason(setting, label));
  return reasons;
}

std::string labels_without_unit(const Setting& setting) {
  const std::string& revision = setting.trial.recompute.core_revision;
  const auto has_unit = [&](const std::string& label) {
    const auto& families = setting.trainer.families;
    return std::any_of(families.begin(), families.end(), [&](const auto& family) { return has_row(family, label); });
  };
  Names without, with_unit;
  for (const std::string& label : selected_labels(setting))
    if (protocol::find_label(label, revision) && !has_unit(label)) without.push_back(label);
  for (const std::string& label : protocol::labels_of_revision(revision))
    if (has_unit(label)) with_unit.push_back(label);
  return without.empty() ? "" : joined(without) + "; labels that have one: " + joined(with_unit);
}

std::string unsplit_layers(const Setting& setting) {
  std::string text;
  for (const auto& row : protocol::unsplit_kinds(setting.family, setting.trial.model.fields, setting.trial.parallel))
    text += (text.empty() ? "" : "; ") + row.option + " is " + std::to_string(row.degree) + ", the model has layers of kind " +
            joined(row.kinds) + " (" + setting.family.name + ")";
  return text;
}

}  // namespace rematch::compat
